import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Examples } from './reference.ts';

/**
 * The files of the examples, whose parts stand between `example NAME` and `end` in comments. A test runs each file from
 * its begin to its end.
 */
const FILES = [
  { file: 'curl.sh', language: 'sh', name: 'curl' },
  { file: 'typescript.ts', language: 'ts', name: 'TypeScript' },
  { file: 'python.py', language: 'python', name: 'Python' },
  { file: 'php.php', language: 'php', name: 'PHP' },
  { file: 'java.java', language: 'java', name: 'Java' },
  { file: 'go.go', language: 'go', name: 'Go' },
] as const;
const PART = /^(?<indent>[ \t]*)(?:\/\/|#) example (?<operation>\w+)\n(?<code>.*?)\n[ \t]*(?:\/\/|#) end$/gms;

/**
 * Reads the examples of the reference, as blocks of Markdown.
 * @param root of the project
 */
export function readExamples(root: string): Examples {
  const found: Record<string, string[]> = {};
  for (const { file, language, name } of FILES) {
    const text = readFileSync(join(root, 'docs/examples', file), 'utf8');
    for (const { groups } of text.matchAll(PART)) {
      const { indent = '', operation = '', code = '' } = groups ?? {};
      const own = code.replaceAll(new RegExp(`^${indent}`, 'gm'), '').replaceAll('\t', '    ');
      found[operation] ??= [];
      found[operation].push(`\`\`\`${language} ${name}\n${own}\n\`\`\``);
    }
  }
  return found;
}
