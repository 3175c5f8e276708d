import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/verapdf-1.28.2', import.meta.url));
const POM = fileURLToPath(new URL('verapdf-pom.xml', import.meta.url));
const SOURCE = fileURLToPath(new URL('ValidatePdf.java', import.meta.url));

/**
 * veraPDF, the public validator of PDF/A: fetched with Maven and compiled at the first call, kept for the next.
 * @returns null where Java, its compiler or Maven is missing, or Maven reaches nothing
 */
export function pdfValidator(): PdfValidator | null {
  if (!existsSync(CACHE) && !install()) return null;
  return {
    validate(flavour, files) {
      const folder = mkdtempSync(join(dirname(CACHE), 'pdf-'));
      try {
        const paths = Object.entries(files).map(([name, content]) => {
          writeFileSync(join(folder, name), content);
          return join(folder, name);
        });
        const command = ['-cp', `${CACHE}/*:${CACHE}`, 'ValidatePdf', flavour, ...paths];
        const said = execFileSync('java', command, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
        return said.replaceAll(`${folder}/`, '').trim().split('\n');
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  };
}

export interface PdfValidator {
  /**
   * @param flavour `3a`: PDF/A-3A
   * @param files contents by name
   * @returns `compliant NAME` for each file, or `broken NAME` and a line for each rule that it breaks
   */
  validate(flavour: string, files: Readonly<Record<string, Uint8Array>>): string[];
}

/** It appears complete or not at all. */
function install(): boolean {
  mkdirSync(dirname(CACHE), { recursive: true });
  const folder = mkdtempSync(join(dirname(CACHE), 'verapdf-'));
  const runs = (command: string, ...options: string[]) => spawnSync(command, options, { stdio: 'ignore' }).status === 0;
  const copy = ['-q', '-B', '-f', POM, 'dependency:copy-dependencies', `-DoutputDirectory=${folder}`];
  const made = runs('mvn', ...copy) && runs('javac', '-cp', `${folder}/*`, '-d', folder, SOURCE);
  if (made) renameSync(folder, CACHE);
  else rmSync(folder, { recursive: true });
  return made;
}
