// `npm run release -- --dry-run`: makes the packages of a release and checks them. Nothing is uploaded (--help).
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { releasedFile } from './build-live.ts';
import { checkChangelog, checkManifest, checkTree } from './release/checks.ts';
import { checkContents, type Item, readArchive } from './release/contents.ts';
import { makePackage, run } from './release/make-package.ts';
import { nameLines, packageNames, unusableNames } from './release/names.ts';
import { PACKAGES } from './release/packages.ts';
import { help, publishingCommands } from './release/publishing.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SUMS = 'SHA256SUMS';
const CONTRACTS = ['schema.graphql', 'openapi.json'];
const EXIT = { made: 0, problems: 1, usage: 2, leftOut: 3 } as const;

const { version, license } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const DEFAULT_FOLDER = `release/${version}`;

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const isFile = (path: string) => statSync(join(ROOT, path), { throwIfNoEntry: false })?.isFile() === true;
const git = (...args: string[]) => run('git', args, ROOT).trim();

/** Checks the sources. @returns the problems and what remains for a person */
function checkSources(): { problems: string[]; remaining: string[] } {
  const tag = git('tag', '--list', `v${version}`);
  const tree = checkTree(
    {
      status: git('status', '--porcelain'),
      head: git('rev-parse', 'HEAD'),
      tagged: tag === '' ? null : git('rev-parse', `${tag}^{commit}`),
    },
    version,
  );
  const changelog = checkChangelog(read('CHANGELOG.md'), version);
  const locked = JSON.parse(read('package-lock.json')).version;
  return {
    problems: [
      ...tree.problems,
      ...(locked === version ? [] : [`package-lock.json has the version ${locked}, package.json ${version}`]),
      ...PACKAGES.map(({ folder, manifest }) => `${folder}/${manifest}`).flatMap((path) =>
        checkManifest({ path, text: read(path) }, version, license),
      ),
      ...changelog.problems,
    ],
    remaining: [...tree.remaining, ...changelog.remaining, ...unusableNames(packageNames(read))],
  };
}

/** Makes all packages in `output`, from a clone of the commit, so that they contain only committed files. */
function makeAll(output: string): { problems: string[]; left: string[]; remaining: string[] } {
  const scratch = mkdtempSync(join(tmpdir(), 'fatoura-release-'));
  const [problems, left, remaining]: [string[], string[], string[]] = [[], [], []];
  try {
    const tree = join(scratch, 'tree');
    run('git', ['clone', '--quiet', '--shared', ROOT, tree], ROOT);
    symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
    for (const made of PACKAGES)
      try {
        left.push(...makePackage(made, version, tree, output));
      } catch (error) {
        problems.push(`${made.folder}: ${error instanceof Error ? error.message : error}`);
      }
    // Pages pin it by its digest, so later versions have to serve it.
    const live = releasedFile(tree);
    if (!existsSync(join(tree, live))) remaining.push(`there is no ${live} yet: npm run live:publish`);
    for (const name of CONTRACTS) copyFileSync(join(tree, name), join(output, name));
  } finally {
    rmSync(scratch, { recursive: true });
  }
  return { problems, left, remaining };
}

/** @returns the lines about an archive: its size and that of each of its files, bytes */
function listing(name: string, bytes: number, items: readonly Item[]): string {
  const files = items.map(({ path, bytes: { length } }) => `${String(length).padStart(10)}  ${path}`);
  return [`\n${name}: ${bytes} bytes, ${items.length} files`, ...files].join('\n');
}

function list(title: string, lines: readonly string[]): void {
  if (lines.length > 0) console.log(`\n${title}\n${lines.map((line) => `- ${line}`).join('\n')}`);
}

/** @returns the names of the files that an earlier run wrote in a folder; null if there was none */
function madeIn(folder: string): string[] | null {
  const sums = join(folder, SUMS);
  if (!existsSync(sums)) return null;
  const lines = readFileSync(sums, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => line.slice(line.indexOf('  ') + 2));
}

/** Empties a folder that contains only the output of an earlier run. @throws Error if it contains anything else */
function emptyFolder(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const known = new Set([SUMS, ...(madeIn(folder) ?? [])]);
  const names = readdirSync(folder);
  const others = names.filter((name) => !known.has(name));
  if (others.length > 0) throw new Error(`${folder} has files that no earlier run wrote: ${others.join(', ')}`);
  for (const name of names) rmSync(join(folder, name));
}

async function release(output: string): Promise<number> {
  emptyFolder(output);
  const { problems, remaining } = checkSources();
  const made = makeAll(output);
  problems.push(...made.problems);
  remaining.push(...made.remaining);
  const sums: string[] = [];
  for (const name of readdirSync(output).toSorted()) {
    if (name === SUMS) continue;
    const file = join(output, name);
    const bytes = readFileSync(file);
    sums.push(`${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`);
    if (CONTRACTS.includes(name)) {
      console.log(`\n${name}: ${bytes.length} bytes`);
      continue;
    }
    const items = await readArchive(file);
    console.log(listing(name, bytes.length, items));
    problems.push(...checkContents(items, version, license).map((problem) => `${name}: ${problem}`));
  }
  writeFileSync(join(output, SUMS), sums.join(''));
  console.log(`\n${SUMS}\n${sums.join('')}`);
  const tracked = git('ls-files', '-z', 'clients', 'test').split('\0');
  const filesWith = (text: string) => tracked.filter((path) => isFile(path) && read(path).includes(text));
  list('Names, and how to change them:', nameLines(packageNames(read), filesWith));
  list('Left out, because a tool is missing:', made.left);
  list('Remains to be done by a person:', remaining);
  list('Problems:', problems);
  console.log(`\n${version}: ${sums.length} files in ${relative(ROOT, output) || output}. Nothing was uploaded.`);
  if (problems.length > 0) return EXIT.problems;
  return made.left.length > 0 ? EXIT.leftOut : EXIT.made;
}

async function main(): Promise<number> {
  try {
    const { values } = parseArgs({
      options: {
        'dry-run': { type: 'boolean', default: false },
        output: { type: 'string', default: DEFAULT_FOLDER },
        help: { type: 'boolean', default: false },
      },
    });
    const output = resolve(ROOT, values.output);
    if (values.help) {
      console.log(help(version, values.output, madeIn(output)));
      return EXIT.made;
    }
    if (values['dry-run']) return await release(output);
    console.error(`This script publishes nothing: give --dry-run. A person publishes, with these commands:

${publishingCommands(version, values.output, madeIn(output))}`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
  }
  return EXIT.usage;
}

process.exitCode = await main();
