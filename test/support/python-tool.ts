import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url));
const OLDEST = 'import sys; sys.exit(sys.version_info < (3, 10))';

/**
 * Prepares an environment of Python 3.10 or later with packages of PyPI. Later calls reuse it.
 * @param name of its folder; another list of packages needs another name
 * @returns the path of its interpreter; null if there is no such Python, or PyPI cannot be reached
 */
export function pythonWith(name: string, packages: readonly string[]): string | null {
  const home = join(CACHE, name);
  const python = join(home, 'bin/python');
  const runs = (command: string, ...args: string[]) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;
  // Written last, so that an incomplete environment is made again.
  const isMade = join(home, 'packages');
  if (existsSync(isMade)) return python;
  mkdirSync(dirname(home), { recursive: true });
  const made =
    runs('python3', '-c', OLDEST) &&
    runs('python3', '-m', 'venv', '--clear', home) &&
    runs(python, '-m', 'pip', '--disable-pip-version-check', 'install', ...packages);
  if (!made) return null;
  mkdirSync(isMade);
  return python;
}
