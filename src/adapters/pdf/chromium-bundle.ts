import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** The Chromium that npm brings, unpacked. All paths are absolute. */
export interface UnpackedChromium {
  readonly executable: string;
  /** Folder of NSS, NSPR and expat, for machines that have none of their own. */
  readonly libraries: string;
  /** Folder of a fonts.conf with one plain font, for machines without fontconfig. */
  readonly fontConfig: string;
}

/** Whether npm's Chromium, which is built for Linux on x64 with glibc, can be meant for this machine at all. */
export function bundleFitsMachine(): boolean {
  return process.platform === 'linux' && process.arch === 'x64';
}

const PACKAGE = '@sparticuz/chromium';

/**
 * Unpacks npm's Chromium under `cacheDir` (about 210 MB, two seconds) unless this version is there already. The folder appears
 * complete or not at all, whatever dies meanwhile and however many processes do it at once. It must be ours alone: what lies in
 * it is executed, so a folder of another user's is refused, and a world-writable place such as /tmp is never used.
 * @throws {Error} when the package is missing, the disk full, or the folder another user's
 */
export async function unpackChromium(cacheDir: string): Promise<UnpackedChromium> {
  const packageDir = join(dirname(createRequire(import.meta.url).resolve(PACKAGE)), '..');
  const { version } = JSON.parse(await readFile(join(packageDir, 'package.json'), 'utf8')) as { version: string };
  const folder = join(cacheDir, `chromium-${version}`);
  if (!(await isOurs(folder))) {
    await mkdir(cacheDir, { recursive: true, mode: 0o700 });
    await unpackInto(folder, cacheDir);
    await sweep(cacheDir, `chromium-${version}`);
  }
  return {
    executable: join(folder, 'chromium'),
    libraries: join(folder, 'al2023', 'lib'),
    fontConfig: join(folder, 'fonts'),
  };
}

async function isOurs(folder: string): Promise<boolean> {
  const found = await stat(folder).catch(() => null);
  if (found === null) return false;
  if (found.uid !== process.getuid?.() || (found.mode & 0o022) !== 0) {
    throw new Error(`${folder} belongs to another user or is writable by others: remove it`);
  }
  return true;
}

async function unpackInto(folder: string, cacheDir: string): Promise<void> {
  // mkdtemp's folder has mode 0700 and becomes the final one.
  const staging = await mkdtemp(join(cacheDir, STAGING));
  try {
    await inflateInChild(staging);
    await writeFile(join(staging, 'fonts', 'fonts.conf'), FONTS_CONF);
    // A folder that a power cut leaves behind must not look complete with an empty binary in it.
    const binary = await open(join(staging, 'chromium'), 'r+');
    await binary.sync().finally(() => binary.close());
    await rename(staging, folder);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    // Another process was first: its folder is as good.
    if (!(await isOurs(folder))) throw error;
  }
}

const STAGING = 'unpacking-';

const FONTS_CONF = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>/usr/share/fonts</dir>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;

/** The package unpacks into the folder for temporary files, which only a process of its own can be given. */
async function inflateInChild(target: string): Promise<void> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('./inflate-chromium.ts', import.meta.url))], {
    env: { TMPDIR: target },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  const [code, problems] = await Promise.all([exited, text(child.stderr)]);
  if (code !== 0) throw new Error(`unpacking ${PACKAGE} into ${target} failed: ${problems.trim() || `exit ${code}`}`);
}

/** Removes other versions, and what unpackers that died left behind. A running browser keeps its files open and does not mind. */
async function sweep(cacheDir: string, current: string): Promise<void> {
  for (const name of await readdir(cacheDir)) {
    const path = join(cacheDir, name);
    const old = name.startsWith('chromium-') && name !== current;
    const dead =
      name.startsWith(STAGING) && Date.now() - ((await stat(path).catch(() => null))?.mtimeMs ?? 0) > 600_000;
    if (old || dead) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}
