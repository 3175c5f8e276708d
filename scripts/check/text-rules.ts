import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SKIPPED = new Set(['.git', 'data', 'bench-results']);
/** Skipped also in packages within the project (clients/). */
const SKIPPED_EVERYWHERE = new Set(['node_modules', 'dist', 'target']);

/**
 * Returns the project's files as paths relative to `root` with forward slashes, without installed files and generated
 * output.
 */
export function projectFiles(root: string, folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (SKIPPED_EVERYWHERE.has(entry.name)) return [];
    if (folder === '' && SKIPPED.has(entry.name)) return []; // .git is a file in a linked work tree
    if (entry.isDirectory()) return projectFiles(root, path);
    return entry.isFile() && !entry.name.endsWith('.log') ? [path] : [];
  });
}

export const MACHINE_PATH =
  /(?<![\w.~*-])(?:\/(?:work|root|tmp)\/[\w.@-]|\/(?:home|Users)\/[\w.@-]+\/|[A-Z]:\\{1,2}Users\\)[\w./@\\-]*/g;
const PACKAGE_HOST = /registry\.(?:npmjs|yarnpkg)\.\w+|npmmirror\.com|npm\.pkg\.github\.com/g;
const LOCKED_ADDRESS = /"resolved": "\w+(?:\+\w+)?:[^"]*"/g;

/** Finds texts that tie a file to one machine or to one package host. Files with a NUL byte are treated as binary. */
export function checkText(root: string, files: readonly string[]): string[] {
  return files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    if (text.includes('\0')) return [];
    const problems: string[] = [];
    const report = (pattern: RegExp, what: string): void => {
      for (const match of text.matchAll(pattern)) {
        const line = text.slice(0, match.index).split('\n').length;
        problems.push(`${file}:${line}: ${what}: ${match[0]}`);
      }
    };
    report(MACHINE_PATH, 'machine-specific path');
    if (file.endsWith('package-lock.json'))
      report(LOCKED_ADDRESS, 'host address (npm config: omit-lockfile-registry-resolved)');
    else report(PACKAGE_HOST, 'package host');
    return problems;
  });
}
