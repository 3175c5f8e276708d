import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Holds the digest of the sources that a folder was built from. */
const STAMP = 'sources.sha256';
/** Maximum number of replacements of the folder, if other builds come in between. */
const MOST_ATTEMPTS = 20;

/**
 * Builds a folder unless it was built from the present sources. It appears in one step, so that an interrupted build,
 * or two concurrent builds, leave complete folders.
 * @param root of the project
 * @param output the path of the folder in the project
 * @param sources files and folders of the project
 * @param build writes the folder at the path that it is given
 * @returns whether it built
 */
export async function buildFolder(
  root: string,
  output: string,
  sources: readonly string[],
  build: (folder: string) => Promise<void>,
): Promise<boolean> {
  const digest = digestOf(root, sources);
  const built = join(root, output);
  if (isBuilt(built, digest)) return false;
  const unfinished = `${built}-${process.pid}`;
  await build(unfinished);
  writeFileSync(join(unfinished, STAMP), digest);
  replace(unfinished, built, digest);
  return true;
}

/**
 * Replaces a folder by a finished one. Another build may do the same at any moment: a build that finds a folder of the
 * same sources leaves it there.
 */
function replace(finished: string, output: string, digest: string): void {
  const former = `${finished}-former`;
  for (let attempt = 1; ; attempt++) {
    try {
      if (existsSync(output)) renameSync(output, former);
      renameSync(finished, output);
      break;
    } catch (error) {
      if (isBuilt(output, digest)) {
        rmSync(finished, { recursive: true, force: true });
        break;
      }
      if (attempt === MOST_ATTEMPTS) throw error;
    } finally {
      rmSync(former, { recursive: true, force: true });
    }
  }
}

function isBuilt(output: string, digest: string): boolean {
  const stamp = join(output, STAMP);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === digest;
}

/** Computes the digest of the names and contents of the sources. */
function digestOf(root: string, sources: readonly string[]): string {
  const files = sources.flatMap((source) => filesOf(root, source)).sort();
  return hash('sha256', files.map((file) => `${file}\n${hash('sha256', readFileSync(join(root, file)))}`).join('\n'));
}

function filesOf(root: string, path: string): string[] {
  if (!existsSync(join(root, path))) return [];
  if (/\.\w+$/.test(path)) return [path];
  return readdirSync(join(root, path)).flatMap((name) => filesOf(root, `${path}/${name}`));
}
