import { copyFile, link, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openAdministration } from '../../src/app/administration.ts';
import { type App, startApp } from '../../src/app/app.ts';
import { restoreBackup } from '../../src/app/backup/restore-backup.ts';
import { takeBackup } from '../../src/app/backup/take-backup.ts';
import { checkStore } from '../../src/app/check-store.ts';
import { openDataKeys } from '../../src/app/data-keys.ts';
import { diagnoseMasterKey } from '../../src/app/diagnosis.ts';
import { lockKeyFiles } from '../../src/app/key-files.ts';
import { rotateDataKey, rotateMasterKey } from '../../src/app/key-rotation.ts';
import { readMasterKeys } from '../../src/app/master-key.ts';
import { readConfig } from '../../src/config.ts';
import { createKeyRingStore } from '../../src/storage/key-ring.ts';
import { testLong } from '../support/samples.ts';
import { STAND_IN_RENDERER, sharedThreads } from '../support/service.ts';

// The master key in a file of DATA_DIR, beside a running service with the embedded engine.
vi.setConfig({ testTimeout: 120_000 });

let folder: string;
let app: App | null = null;
const dataDir = () => join(folder, 'data');
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'key-files-'));
});
afterEach(async () => {
  await stop();
  await rm(folder, { recursive: true, force: true });
});

const config = (settings: Record<string, string> = {}) =>
  readConfig({ PORT: '0', DATA_DIR: dataDir(), LOG_LEVEL: 'silent', ...settings });
async function start(settings: Record<string, string> = {}): Promise<App> {
  app = await startApp(config(settings), { ...sharedThreads(), renderer: STAND_IN_RENDERER });
  return app;
}
async function stop(): Promise<void> {
  await app?.close();
  app = null;
}
/** As the command does it, in a process of its own. */
async function rotate(settings: Record<string, string> = {}) {
  const administration = await openAdministration(config(settings));
  try {
    return await rotateMasterKey(config(settings), administration);
  } finally {
    await administration.close();
  }
}
const file = (name = 'master.key') => join(dataDir(), name);
/** The file of the key before a rotation. */
const KEPT = expect.stringMatching(/^master\.key\.before-\d{4}-\d\d-\d\d-[0-9a-f]{8}$/);
const keyFiles = async (folder = dataDir()) =>
  (await readdir(folder)).filter((name) => name.startsWith('master.key')).sort();
const keyIn = async (name = 'master.key') => (await readFile(file(name), 'utf8')).trim();
const faults = async () => {
  const found: string[] = [];
  await checkStore(config(), (text) => found.push(text), () => undefined); // biome-ignore format: one line
  return found;
};
/** A part of what a data key is recognized by. */
const newest = (keys: App['keys']) => keys.data.newest().secret.export().toString('hex');
/** What a service opens when it starts, without the rest of it. @returns {@link newest} */
async function opened(settings: Record<string, string> = {}): Promise<string> {
  const administration = await openAdministration(config(settings));
  try {
    return newest(await openDataKeys(config(settings), administration.keyRing));
  } finally {
    await administration.close();
  }
}

it('is replaced beside the running service, which goes on and learns of a later data key', async () => {
  const running = await start();
  const [before, data] = [await keyIn(), newest(running.keys)];
  const rotated = await rotate();
  expect(rotated.from).not.toBe(rotated.to);
  expect(await keyIn()).not.toBe(before);
  expect((await stat(file())).mode & 0o777).toBe(0o600);
  expect(await keyFiles()).toEqual(['master.key', KEPT, 'master.key.lock']);
  const kept = (await keyFiles())[1] ?? '';
  expect(rotated.kept).toBe(file(kept));
  expect([await keyIn(kept), (await stat(file(kept))).mode & 0o777]).toEqual([before, 0o600]);
  expect(newest(running.keys)).toBe(data);
  const own = { store: running.store, keyRing: createKeyRingStore(running.store.db) };
  await rotateDataKey(config(), own, { purpose: 'data', earlierEndAt: null });
  expect(await running.keys.refresh()).toMatchObject({ level: 'info' });
  expect(running.keys.data.all()).toHaveLength(2);
  expect(running.keys.trouble()).toBeNull();
  await stop();
  expect(newest((await start()).keys)).toBe(data);
  expect(await faults()).toEqual([]);
  await stop();
  await expect(start({ MASTER_KEY: before })).rejects.toThrow(/MASTER_KEY is not the master key .*, not [0-9a-f]{8}\./);
});

it('that an interrupted rotation left in two files opens the data whichever seals it, and the next rotation goes on', async () => {
  const data = await opened();
  const first = await keyIn();
  // Killed before the ring was sealed.
  await writeFile(file('master.key.next'), `${'ab'.repeat(32)}\n`, { mode: 0o600 });
  expect(await opened()).toBe(data);
  await rotate();
  expect(await keyIn()).toBe('ab'.repeat(32));
  // Killed before the new file took the place of the old one.
  await rename(file(), file('master.key.next'));
  await writeFile(file(), `${first}\n`, { mode: 0o600 });
  expect(await opened()).toBe(data);
  const rotated = await rotate();
  expect([rotated.from, await keyIn()]).toEqual([rotated.to, 'ab'.repeat(32)]);
  expect(await opened()).toBe(data);
});

testLong('that an interrupted rotation left in two files is in a backup with both, or with none', async () => {
  const data = newest((await start()).keys);
  const first = await keyIn();
  await stop();
  await writeFile(file('master.key.next'), `${'ab'.repeat(32)}\n`, { mode: 0o600 });
  await rotate();
  // Killed before the new file took the place of the old one.
  await rename(file(), file('master.key.next'));
  await writeFile(file(), `${first}\n`, { mode: 0o600 });
  expect(newest((await start()).keys)).toBe(data);
  await diagnoseMasterKey(config());
  const withoutKey = { to: join(folder, 'none'), withMasterKey: false, signal: new AbortController().signal, say: () => undefined }; // biome-ignore format: one line
  expect((await takeBackup(config(), withoutKey)).masterKey).toBe(false);
  expect((await readdir(join(folder, 'none', 'data'))).filter((name) => name.startsWith('master'))).toEqual([]);
  await takeBackup(config(), { ...withoutKey, to: join(folder, 'both'), withMasterKey: true });
  await stop();
  const restored = { ...config(), dataDir: join(folder, 'restored') };
  await restoreBackup(restored, join(folder, 'both'), { signal: new AbortController().signal, say: () => undefined });
  await diagnoseMasterKey(restored);
  await rm(join(folder, 'restored', 'master.key.next'));
  await expect(diagnoseMasterKey(restored)).rejects.toThrow('is not the master key of the stored data');
});

it('outlives the draft of a rotation that was killed, which no backup has and the next rotation removes', async () => {
  const data = newest((await start()).keys);
  const before = await keyIn();
  // Killed before the draft was removed, it is the same file.
  for (const draft of ['master.key.next', 'master.key']) await link(file(), file(`${draft}.${'ab'.repeat(16)}`));
  const to = join(folder, 'none');
  await takeBackup(config(), { to, withMasterKey: false, signal: new AbortController().signal, say: () => undefined });
  expect((await readdir(join(to, 'data'))).filter((name) => name.startsWith('master'))).toEqual([]);
  await rotate();
  expect(await keyIn()).not.toBe(before);
  expect(await keyFiles()).toEqual(['master.key', KEPT, 'master.key.lock']);
  await stop();
  expect(await opened()).toBe(data);
});

it('leaves an operator’s own copies alone, which backups have, whatever their names', async () => {
  await start();
  const before = await keyIn();
  const own = ['20261127', '1', '4194304', 'bad', 'next.7', 'next.20261127', 'ab'.repeat(8)];
  for (const suffix of own) await copyFile(file(), file(`master.key.${suffix}`));
  // Killed before it was linked: nobody has its key.
  await writeFile(file(`master.key.next.${'cd'.repeat(16)}`), `${'12'.repeat(32)}\n`, { mode: 0o600 });
  const to = join(folder, 'all');
  const copies = own.map((suffix) => `master.key.${suffix}`);
  const signal = new AbortController().signal;
  await takeBackup(config(), { to, withMasterKey: true, signal, say: () => undefined });
  expect(await keyFiles(join(to, 'data'))).toEqual(['master.key', ...copies].sort());
  await rotate();
  expect(await keyFiles()).toHaveLength(copies.length + 3);
  for (const name of copies) expect(await keyIn(name)).toBe(before);
});

it('is not replaced while a backup is made, and no backup is made while it is replaced', async () => {
  await start();
  const before = await keyIn();
  const release = lockKeyFiles(dataDir(), 'shared');
  // Several copies may be made at once.
  lockKeyFiles(dataDir(), 'shared')();
  await expect(rotate()).rejects.toThrow('stop backup --follow');
  expect(await keyIn()).toBe(before);
  release();
  const unlock = lockKeyFiles(dataDir(), 'exclusive');
  expect(() => lockKeyFiles(dataDir(), 'shared')).toThrow('try again');
  unlock();
  await rotate();
  expect(await keyIn()).not.toBe(before);
});

/** The settings that move a key into MASTER_KEY: the new key alone, and with the old one. */
const settingsFrom = (old: string) =>
  [{ MASTER_KEY: 'cd'.repeat(32) }, { MASTER_KEY: 'cd'.repeat(32), MASTER_KEY_PREVIOUS: old }] as const;

it('moves into MASTER_KEY, which then stands alone', async () => {
  const data = await opened();
  const [next, both] = settingsFrom(await keyIn());
  await expect(opened(next)).rejects.toThrow('MASTER_KEY_PREVIOUS');
  expect(newest((await start(both)).keys)).toBe(data);
  await rotate(both);
  // The running service has both; one that has neither says so.
  expect(await app?.keys.refresh()).toMatchObject({ level: 'info' });
  await stop();
  await rm(file());
  expect(await opened(next)).toBe(data);
  await expect(opened()).rejects.toThrow(/master\.key, the master key of the stored data, is missing/);
  await expect(readFile(file())).rejects.toThrow('ENOENT');
});

testLong('of a backup from before a move opens it, and is replaced by the present one', async () => {
  const data = newest((await start()).keys);
  const [next, both] = settingsFrom(await keyIn());
  const to = join(folder, 'backup');
  await takeBackup(config(), { to, withMasterKey: true, signal: new AbortController().signal, say: () => undefined });
  await rotate(both);
  await stop();
  await rm(dataDir(), { recursive: true });
  await restoreBackup(config(), to, { signal: new AbortController().signal, say: () => undefined });
  expect((await readMasterKeys(config())).map(({ file: from }) => from)).toEqual([file()]);
  await start();
  await stop();
  await rm(file());
  await expect(start(next)).rejects.toThrow('MASTER_KEY is not the master key of the stored data');
  expect(newest((await start(both)).keys)).toBe(data);
  await rotate(both);
  await stop();
  await start(next);
});

it('that a running process does not have leaves it its keys; it is not ready once a key is in use that it cannot open', async () => {
  const [old, both] = [{ MASTER_KEY: 'ab'.repeat(32) }, { MASTER_KEY: 'cd'.repeat(32), MASTER_KEY_PREVIOUS: 'ab'.repeat(32) }]; // biome-ignore format: one line
  const running = await start(old);
  const ready = async () => (await fetch(`${running.url}/readyz`)).status;
  const data = newest(running.keys);
  await rotate(both);
  expect(await running.keys.refresh()).toMatchObject({ level: 'error' });
  expect(await running.keys.refresh()).toBeNull();
  const own = { store: running.store, keyRing: createKeyRingStore(running.store.db) };
  await rotateDataKey(config(both), own, { purpose: 'data', earlierEndAt: null });
  expect(await running.keys.refresh()).toMatchObject({
    level: 'error',
    text: expect.stringContaining('without new ones'),
  });
  expect([newest(running.keys), await ready()]).toEqual([data, 200]);
  const ring = await own.keyRing.read();
  if (!ring) throw new Error('no ring');
  const keys = ring.keys.map((key) => ({ ...key, usedFrom: ring.keys[0]?.usedFrom ?? key.usedFrom }));
  await own.keyRing.replace({ ...ring, keys, revision: ring.revision + 1 });
  await running.keys.refresh();
  expect([newest(running.keys), await ready()]).toEqual([data, 503]);
});
