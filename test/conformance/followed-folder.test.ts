import { closeSync, cpSync, existsSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { type FileHandle, mkdtemp, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Db, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { followStore } from '../../src/app/backup/follow-store.ts';
import { findManifest, type Manifest, writeManifest } from '../../src/app/backup/manifest.ts';
import { restoreBackup } from '../../src/app/backup/restore-backup.ts';
import { readConfig } from '../../src/config.ts';
import { applyLog } from '../../src/engine/copy/apply-log.ts';
import { runningEngine } from '../../src/engine/running.ts';
import { startServer } from '../../src/engine/server.ts';
import { startEngineProcess } from '../support/engine-process.ts';
import { firstOf } from '../support/samples.ts';

// A folder into which `backup --follow` copies what an engine writes.

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'followed-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const NEVER = new AbortController().signal;

describe('a folder that is followed', () => {
  /** Follows until `end` is called, or until it says `last`. */
  function follow(dataDir: string, to: string, replace = false, last?: string) {
    const controller = new AbortController();
    const said: string[] = [];
    const { signal } = controller;
    const say = (what: string): void => {
      said.push(what);
      if (last !== undefined && what.startsWith(last)) controller.abort();
    };
    const options = { to, withMasterKey: true, replace, signal, say };
    const done = followStore(readConfig({ DATA_DIR: dataDir }), options);
    const end = () => {
      controller.abort();
      return done;
    };
    return { said: () => said.join(), done, end };
  }

  test('has an idle engine on the disk before its first manifest, and one follower at a time', async () => {
    const [dataDir, to] = [join(folder, 'idle'), join(folder, 'idle followed')];
    const idle = await startServer({ dataDir: join(dataDir, 'db') });
    onTestFinished(() => idle.close());
    const manifest = join(to, 'manifest.json');
    const handle = await open(folder);
    const handles: Pick<FileHandle, 'sync'> = Object.getPrototypeOf(handle);
    await handle.close();
    const synced: number[] = [];
    const { sync } = handles;
    const spy = vi.spyOn(handles, 'sync').mockImplementation(async function (this: FileHandle) {
      if (!existsSync(manifest)) synced.push((await this.stat()).ino);
      await sync.call(this);
    });
    onTestFinished(() => spy.mockRestore());

    const first = follow(dataDir, to);
    await expect.poll(first.said).toContain('is whole, checked and followed');
    const { folder: name, logBytes: promised } = JSON.parse(await readFile(manifest, 'utf8'));
    expect(promised).toBe(0);
    for (let path = join(to, name, 'data', 'db', 'engine.sqlite'); path !== to; path = dirname(path))
      expect(synced, path).toContain((await stat(path)).ino);

    await expect(follow(dataDir, to).end()).rejects.toThrow('Another backup --follow writes to');
    await first.end();
    const next = follow(dataDir, to);
    await expect.poll(next.said).toContain('is whole, checked and followed');
    await next.end();
  });

  test('is followed again when nothing was copied the first time', async () => {
    for (let time = 0; time < 2; time++) {
      const waiting = follow(join(folder, 'nowhere'), join(folder, 'waiting'));
      await expect.poll(waiting.said).toContain('waiting for one');
      await waiting.end();
    }
  });

  /** Runs an engine over a folder of data while `work` does. @param isKilled whether it is a process that is killed then */
  async function withEngine(dataDir: string, work: () => Promise<void>, isKilled = false) {
    const running = isKilled
      ? await startEngineProcess(join(dataDir, 'db'))
      : await startServer({ dataDir: join(dataDir, 'db') });
    let isEnded = false;
    const end = async () => {
      if (isEnded) return;
      isEnded = true;
      await ('kill' in running ? running.kill() : running.close());
    };
    onTestFinished(end);
    const writer = await new MongoClient(running.uri).connect();
    await writer.db('history').collection('written').insertOne({});
    await writer.close();
    await work();
    await end();
  }
  /** Follows until a copy is whole. @returns its manifest */
  async function followed(dataDir: string, to: string, replace = false): Promise<Manifest> {
    const follower = follow(dataDir, to, replace);
    await expect.poll(follower.said).toContain('is whole, checked and followed');
    await follower.end();
    return (await findManifest(to)) as Manifest;
  }

  test('is not replaced by other or older data, unless that is wanted', async () => {
    const [dataDir, to, older] = [join(folder, 'kept'), join(folder, 'kept followed'), join(folder, 'kept older')];
    await withEngine(dataDir, async () => void (await followed(dataDir, to)));
    cpSync(dataDir, older, { recursive: true });
    await withEngine(dataDir, async () => void (await followed(dataDir, to)));
    const manifest = await findManifest(to);
    const refused = async (reason: RegExp) => {
      await expect(follow(dataDir, to).done).rejects.toThrow(reason);
      // The refusal is noted: what is refused may go on until its oplog no longer tells what it lacks.
      expect(await findManifest(to)).toEqual({ ...manifest, history: { ...manifest?.history, exact: true } });
      expect(await readdir(to)).toContain(manifest?.folder);
    };

    await rename(dataDir, join(folder, 'not mounted'));
    await withEngine(dataDir, () => refused(new RegExp(`installation ${manifest?.history?.id}.*data of another one`)));
    await rm(dataDir, { recursive: true });
    await rename(older, dataDir);
    // Its newest write is soon later than that of the copy.
    for (let time = 0; time < 2; time++) await withEngine(dataDir, () => refused(/writes up to .* not in DATA_DIR/));
    await withEngine(dataDir, async () => {
      const { folder: name } = await followed(dataDir, to, true);
      const { folder: next, history } = await followed(dataDir, to);
      expect([next, history?.exact]).toEqual([expect.not.stringMatching(name), undefined]);
    });
  });

  test('stays protected until a wanted replacement is whole, and that one is protected from then on', async () => {
    const [dataDir, to] = [join(folder, 'mounted'), join(folder, 'mounted followed')];
    await withEngine(dataDir, async () => void (await followed(dataDir, to)));
    const manifest = await findManifest(to);
    // Ended before there was an engine, and before its copy was whole.
    const waiting = follow(join(folder, 'no engine yet'), to, true);
    await expect.poll(waiting.said).toContain('waiting for one');
    await waiting.end();
    await rename(dataDir, join(folder, 'unmounted'));
    await withEngine(dataDir, async () => {
      await follow(dataDir, to, true, 'copying').done;
      expect(await findManifest(to)).toEqual(manifest);
      await expect(follow(dataDir, to).done).rejects.toThrow('data of another one');
    });

    const follower = follow(dataDir, to, true);
    await withEngine(dataDir, () => expect.poll(follower.said).toContain('is whole, checked and followed'));
    await rename(dataDir, join(folder, 'unmounted again'));
    await withEngine(dataDir, () => expect(follower.done).rejects.toThrow('data of another one'));
  });

  test('is replaced after every end of its engine, and by an engine over what was restored from it', async () => {
    const [dataDir, to] = [join(folder, 'ends'), join(folder, 'ends followed')];
    for (const isKilled of [true, false])
      await withEngine(dataDir, async () => void (await followed(dataDir, to)), isKilled);
    await rm(dataDir, { recursive: true });
    await restoreBackup({ dataDir }, to, { signal: NEVER, say: () => undefined });
    await withEngine(dataDir, async () => {
      expect((await followed(dataDir, to)).documents).toMatchObject({ 'history.written': 3 });
    });
  });

  test.each(firstOf(['EPIPE', 'ECONNRESET']))(
    'is followed again after %s, which the driver does not wrap',
    async (code) => {
      const [dataDir, to] = [join(folder, `broken by ${code}`), join(folder, `followed after ${code}`)];
      await withEngine(dataDir, async () => {
        const follower = follow(dataDir, to);
        await expect.poll(follower.said).toContain('is whole, checked and followed');
        const failure = Object.assign(new Error(`write ${code}`), { code });
        const command = vi.spyOn(Db.prototype, 'command').mockRejectedValueOnce(failure);
        await expect.poll(follower.said).toContain(`this copy has ended (write ${code})`);
        command.mockRestore();
        await expect.poll(() => follower.said().split('is whole, checked and followed')).toHaveLength(3);
        await follower.end();
      });
    },
  );

  describe('and changes while it is restored', () => {
    /** A copy whose log is beside it. */
    async function copyWithLog(name: string): Promise<{ to: string; path: string; manifest: Manifest }> {
      const [dataDir, to] = [join(folder, name), join(folder, `${name} followed`)];
      await withEngine(dataDir, async () => {
        const follower = follow(dataDir, to);
        await expect.poll(follower.said).toContain('is whole, checked and followed');
        const writer = await new MongoClient((await runningEngine(join(dataDir, 'db'))) ?? '').connect();
        await writer.db('history').collection('written').insertOne({});
        await writer.close();
        await expect.poll(async () => (await findManifest(to))?.logBytes).toBeGreaterThan(0);
        await follower.end();
      });
      const manifest = (await findManifest(to)) as Manifest;
      return { to, path: join(to, manifest.folder, 'data', 'db', 'engine.sqlite'), manifest };
    }
    const restored = (name: string, from: string, say: (what: string) => void) =>
      restoreBackup({ dataDir: join(folder, name) }, from, { signal: NEVER, say });

    test('is restored with what it has then', async () => {
      const { to, path, manifest } = await copyWithLog('moved');
      // What a follower does when the engine moves its log.
      writeFileSync(join(folder, 'moved file'), readFileSync(path));
      const file = openSync(join(folder, 'moved file'), 'r+');
      applyLog(file, `${path}-wal`);
      closeSync(file);
      await writeManifest(join(folder), { ...manifest, logBytes: 0 });
      const { documents } = await restored('from moved', to, (what) => {
        if (!what.startsWith('copying and')) return;
        renameSync(join(folder, 'moved file'), path);
        renameSync(join(folder, 'manifest.json'), join(to, 'manifest.json'));
        rmSync(`${path}-wal`);
      });
      expect(documents).toMatchObject({ 'history.written': 2 });
    });

    test('is refused when it never stops, or when it does not change and lacks something', async () => {
      const { to, path, manifest } = await copyWithLog('changing');
      let writes = Promise.resolve();
      let times = 0;
      const change = () => {
        const takenAt = new Date(Date.parse(manifest.takenAt) + ++times).toISOString();
        writes = writes.then(() => writeManifest(to, { ...manifest, takenAt }));
      };
      await expect(restored('from changing', to, change)).rejects.toThrow('stop backup --follow');
      await writes;
      rmSync(`${path}-wal`);
      await expect(restored('from changing', to, () => undefined)).rejects.toThrow('the last writes of the copy');
    });
  });
});
