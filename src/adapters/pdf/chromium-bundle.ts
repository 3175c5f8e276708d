import { spawn } from 'node:child_process';
import { open, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { privateFolder } from './private-folder.ts';
import { requireStarted } from './require-started.ts';

/** The unpacked Chromium of the npm package. All paths are absolute. */
export interface UnpackedChromium {
  readonly executable: string;
  /** Folder with NSS, NSPR and expat, for machines that lack them. */
  readonly libraries: string;
  /** Folder with a fonts.conf and one font, for machines without fontconfig. */
  readonly fontConfig: string;
}

/** Whether the npm package can run on this machine. It is built for Linux on x64 with glibc; glibc is not checked. */
export function bundleFitsMachine(): boolean {
  return process.platform === 'linux' && process.arch === 'x64';
}

const PACKAGE = '@sparticuz/chromium';

/**
 * Unpacks the npm package's Chromium under `cacheDir` (about 210 MB, two seconds), unless that version is already
 * there.
 * @throws {Error} when the package is missing, the disk is full, or the folder is not private (see {@link
 * privateFolder})
 */
export async function unpackChromium(cacheDir: string): Promise<UnpackedChromium> {
  const packageDir = join(dirname(createRequire(import.meta.url).resolve(PACKAGE)), '..');
  const { version } = JSON.parse(await readFile(join(packageDir, 'package.json'), 'utf8')) as { version: string };
  const folder = await privateFolder(cacheDir, 'chromium', version, fill);
  return {
    executable: join(folder, 'chromium'),
    libraries: join(folder, 'al2023', 'lib'),
    fontConfig: join(folder, 'fonts'),
  };
}

async function fill(folder: string): Promise<void> {
  await inflateInChild(folder);
  await writeFile(join(folder, 'fonts', 'fonts.conf'), FONTS_CONF);
  // Flushed, because after a power cut a folder that looks complete must not contain an empty binary.
  const binary = await open(join(folder, 'chromium'), 'r+');
  await binary.sync().finally(() => binary.close());
}

const FONTS_CONF = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>/usr/share/fonts</dir>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;

/** The package always unpacks into the folder for temporary files; a child process gets `target` as that folder. */
async function inflateInChild(target: string): Promise<void> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('./inflate-chromium.ts', import.meta.url))], {
    env: { TMPDIR: target },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await requireStarted(child);
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  const [code, problems] = await Promise.all([exited, text(child.stderr)]);
  if (code !== 0) throw new Error(`unpacking ${PACKAGE} into ${target} failed: ${problems.trim() || `exit ${code}`}`);
}
