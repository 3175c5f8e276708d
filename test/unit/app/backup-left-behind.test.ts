import { spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { followStore } from '../../../src/app/backup/follow-store.ts';
import { takeBackup } from '../../../src/app/backup/take-backup.ts';
import { lockKeyFiles } from '../../../src/app/key-files.ts';
import { openStore } from '../../../src/app/store.ts';
import { type Config, readConfig } from '../../../src/config.ts';

// What a backup leaves behind: no open file when it fails, and nothing of root's in the service's folder.

const OWNER = 65_534;
const asRoot = process.getuid?.() === 0;

let folder: string;
let config: Config;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'left-'));
  config = readConfig({ DATA_DIR: join(folder, 'data') });
  await (await openStore(config, { join: true })).close();
  writeFileSync(join(config.dataDir, 'master.key'), `${'ab'.repeat(32)}\n`, { mode: 0o600 });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const options = () => ({
  to: join(folder, 'copy'),
  withMasterKey: true,
  signal: new AbortController().signal,
  say: () => undefined,
});

function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(join('/proc/self/fd', fd))];
    } catch {
      return [];
    }
  });
}

it.skipIf(process.platform !== 'linux')('a backup that fails leaves no file open', async () => {
  writeFileSync(join(config.dataDir, 'a\nname'), '');
  await expect(takeBackup(config, options())).rejects.toThrow(/cannot be backed up/);
  expect(openFiles().filter((path) => path.includes(folder))).toEqual([]);
});

it.skipIf(process.platform !== 'linux')('neither does one that follows', async () => {
  writeFileSync(join(config.dataDir, 'a\nname'), '');
  const store = await openStore(config, { join: true });
  try {
    await expect(followStore(config, { ...options(), replace: false })).rejects.toThrow(/cannot be backed up/);
    expect(openFiles().filter((path) => path.includes(join(folder, 'copy')))).toEqual([]);
  } finally {
    await store.close();
  }
});

it.skipIf(!asRoot)('what root makes in the folder of another user belongs to that user', async () => {
  for (const path of ['', ...(readdirSync(config.dataDir, { recursive: true }) as string[])])
    chownSync(join(config.dataDir, path), OWNER, OWNER);
  await takeBackup(config, options());
  const names = readdirSync(config.dataDir, { recursive: true }) as string[];
  expect(names).toContain('master.key.lock');
  expect(names.filter((name) => statSync(join(config.dataDir, name)).uid !== OWNER)).toEqual([]);
});

it.skipIf(!asRoot)('a lock that root has left is told as what it is', () => {
  lockKeyFiles(config.dataDir, 'shared')();
  chownSync(folder, OWNER, OWNER);
  chownSync(config.dataDir, OWNER, OWNER);
  const script = `import { lockKeyFiles } from ${JSON.stringify(import.meta.resolve('../../../src/app/key-files.ts'))};
    try { lockKeyFiles(${JSON.stringify(config.dataDir)}, 'shared')(); } catch (error) { console.log(error.message); }`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    uid: OWNER,
    gid: OWNER,
    encoding: 'utf8',
    cwd: '/',
    env: { NODE_COMPILE_CACHE: '' },
  });
  expect(stdout).toMatch(/master\.key\.lock belongs to another user \(0\).*chown --reference=/);
});
