import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url));
const MAX_OUTPUT = 64 * 1024 * 1024;
const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** A Java program in this folder that runs a third-party validator. */
export interface JavaTool {
  /**
   * @param files contents by name; the file paths follow the options as arguments
   * @returns the printed lines, with paths shortened to file names
   */
  run(options: readonly string[], files: Readonly<Record<string, Uint8Array | string>>): string[];
}

/**
 * veraPDF, a validator of PDF/A and PDF/UA. Arguments: a flavour (`3a`, `ua1`) and PDFs. Output: `compliant NAME`, or
 * `broken NAME` and the violated rules.
 */
export const veraPdf = () => javaTool('ValidatePdf', 'verapdf-pom.xml', '1.28.2');

/**
 * The European Commission's DSS. Arguments: a trusted certificate (PEM) and PDFs. Output: `FORMAT INDICATION NAME` and
 * its messages.
 */
export const signatureValidator = () => javaTool('ValidatePades', 'dss-pom.xml', '6.4');

/** Saxon, an XSLT processor. Arguments: a stylesheet and XML files. Output: `NAME RESULT`. */
export const xsltProcessor = () => javaTool('TransformXml', 'saxon-pom.xml', '12.5');

/**
 * Prepares a tool: fetches its libraries with Maven and compiles it on the first call; later calls reuse the result.
 * @returns null when Java, its compiler or Maven is missing, or when Maven cannot download
 */
function javaTool(program: string, pom: string, version: string): JavaTool | null {
  const home = join(CACHE, `${program}-${version}`);
  if (!existsSync(home) && !install(home, program, pom)) return null;
  return {
    run(options, files) {
      const folder = mkdtempSync(join(CACHE, 'files-'));
      try {
        const paths = Object.entries(files).map(([name, content]) => {
          writeFileSync(join(folder, name), content);
          return join(folder, name);
        });
        const command = ['-cp', `${home}/*:${home}`, program, ...options, ...paths];
        const said = execFileSync('java', command, {
          encoding: 'utf8',
          maxBuffer: MAX_OUTPUT,
          stdio: ['ignore', 'pipe', 'ignore'],
        });
        return said.replaceAll(`${folder}/`, '').trim().split('\n');
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  };
}

/** Creates the folder atomically. */
function install(home: string, program: string, pom: string): boolean {
  mkdirSync(dirname(home), { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'java-'));
  const runs = (command: string, ...options: string[]) => spawnSync(command, options, { stdio: 'ignore' }).status === 0;
  const copy = ['-q', '-B', '-f', here(pom), 'dependency:copy-dependencies', `-DoutputDirectory=${folder}`];
  const made = runs('mvn', ...copy) && runs('javac', '-cp', `${folder}/*`, '-d', folder, here(`${program}.java`));
  if (made) renameSync(folder, home);
  else rmSync(folder, { recursive: true });
  return made;
}
