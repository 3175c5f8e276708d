import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Package } from './packages.ts';

/** Maximum length of the reported output of a failed command, from its end, characters. */
const REPORTED = 2_000;

/** ZIP files have local times: with one zone, a commit's archives have the same bytes everywhere. */
const env = { ...process.env, TZ: 'UTC' };

/** Runs a command to its end. @throws Error with the end of its output if it fails */
export function run(command: string, args: readonly string[], cwd: string): string {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  if (status === 0) return stdout;
  const output = error?.message ?? `${stdout}${stderr}`.trim().slice(-REPORTED);
  throw new Error(`${command} ${args.join(' ')} failed: ${output}`);
}

const isThere = (command: string, ...args: string[]): boolean =>
  spawnSync(command, args, { stdio: 'ignore' }).status === 0;

/**
 * Makes the archives of a package in the folder `output`.
 * @param tree a clone of the commit, whose folder the package is built in
 * @returns the packages that were left out because a tool is missing
 * @throws Error if a command fails
 */
export function makePackage(made: Package, version: string, tree: string, output: string): string[] {
  const folder = join(tree, made.folder);
  if (made.manifest === 'package.json') {
    // Its script `prepack` builds it.
    run('npm', ['pack', '--pack-destination', output], folder);
    return [];
  }
  if (made.manifest === 'pyproject.toml') return makeWheel(folder, output);
  const name = `${made.archive}-${version}`;
  // Of the folder it runs in, without what `.gitattributes` names there, and with the time of the commit.
  const file = ['--format=zip', `--prefix=${name}/`, '--output', join(output, `${name}.zip`)];
  run('git', ['archive', ...file, 'HEAD'], folder);
  return [];
}

function makeWheel(folder: string, output: string): string[] {
  if (isThere('python3', '-m', 'build', '--version')) {
    run('python3', ['-m', 'build', '--outdir', output], folder);
    return [];
  }
  if (isThere('python3', '-m', 'pip', '--version')) {
    const options = ['--no-deps', '--quiet', '--disable-pip-version-check', '--wheel-dir', output];
    run('python3', ['-m', 'pip', 'wheel', ...options, '.'], folder);
    return ['clients/python: no source distribution, because python3 has no module build'];
  }
  return ['clients/python: no package, because python3 has neither the module build nor pip'];
}
