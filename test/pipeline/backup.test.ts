import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { cp, mkdir, mkdtemp, open, readdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Db, ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { receiveBackup } from '../../src/app/backup/backup-stream.ts';
import { restoreBackup } from '../../src/app/backup/restore-backup.ts';
import { takeBackup } from '../../src/app/backup/take-backup.ts';
import { checkStore } from '../../src/app/check-store.ts';
import { commandParts } from '../../src/app/command-parts.ts';
import { openStore } from '../../src/app/store.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { runCommandLine } from '../../src/cli/run.ts';
import { readConfig } from '../../src/config.ts';
import { type DoomedServer, doomedServer } from '../support/chaos-server.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { CLI, startCommandLine } from '../support/command-line.ts';
import { recordingTerminal } from '../support/recording-terminal.ts';
import { firstOf, testLong } from '../support/samples.ts';

// A restore drill: copies of a service at work, its death, and another service that goes on with them.

let folder: string;
let service: DoomedServer;
let client: Client;
/** Nobody asks for a PDF, and unpacking a browser takes longer than a start. */
const SETTINGS = {
  CHROMIUM_PATH: '/nonexistent',
  LOG_LEVEL: 'error',
  RATE_LIMIT_SECRET: '1000000',
  RATE_LIMIT_ADDRESS: '1000000',
};

/** Runs a command over a folder of data in this process: only signals and streams need a process of its own. */
async function run(dataDir: string, ...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const { terminal, texts } = recordingTerminal();
  const config = () => readConfig({ DATA_DIR: dataDir });
  const context = { terminal, config, environmentKey: () => null, parts: commandParts };
  return { code: await runCommandLine(args, COMMANDS, context), ...texts };
}

/** Creates invoices until it is told to stop. @returns the ids of those that were acknowledged, in their order */
function load(): { readonly acknowledged: string[]; stop: () => Promise<void> } {
  const acknowledged: string[] = [];
  let isStopped = false;
  const work = (async () => {
    while (!isStopped) {
      const { status, body } = await client.post('/v1/invoices', invoiceBody());
      if (status === 201) acknowledged.push(body.id);
    }
  })();
  return {
    acknowledged,
    stop: async () => {
      isStopped = true;
      await work;
    },
  };
}

const at = (name: string) => join(folder, name);

const restore = (dataDir: string, from: string) =>
  restoreBackup({ dataDir: at(dataDir) }, at(from), { signal: new AbortController().signal, say: () => undefined });

async function checked(dataDir: string): Promise<{ faults: string[] }> {
  const faults: string[] = [];
  const report = await checkStore(
    readConfig({ DATA_DIR: dataDir }),
    (text) => void faults.push(text),
    () => undefined,
  );
  expect(report.faults).toBe(faults.length);
  expect(report.invoices).toBeGreaterThan(0);
  return { faults };
}

/** Runs `work` with the data of a stopped service. */
async function inStore<T>(dataDir: string, work: (db: Db) => Promise<T>): Promise<T> {
  const store = await openStore(readConfig({ DATA_DIR: dataDir }), { join: false });
  try {
    return await work(store.db);
  } finally {
    await store.close();
  }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backup-'));
  service = doomedServer({ ...SETTINGS, DATA_DIR: at('data') });
  await service.start();
  client = new Client(await service.url(), service.secretKey());
});

afterAll(async () => {
  await service.kill();
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
});

/** A service on restored data has these invoices, and takes another one. */
async function goesOn(dataDir: string, ids: readonly string[]): Promise<void> {
  const restored = doomedServer({ ...SETTINGS, DATA_DIR: dataDir });
  onTestFinished(() => restored.kill());
  await restored.start();
  const there = new Client(await restored.url(), service.secretKey());
  for (const id of ids) expect((await there.get(`/v1/invoices/${id}`)).status).toBe(200);
  // What was under way is taken up, and a new invoice passes.
  const { body } = await there.post('/v1/invoices', invoiceBody());
  for (const id of [ids.at(-1) ?? '', body.id]) expect((await there.settled(id)).status).toBe('accepted');
  expect(restored.seen.complaints).toEqual([]);
}

it('a backup under load has what was acknowledged before; a followed copy what was acknowledged before the service died', async () => {
  const working = load();
  await expect.poll(() => working.acknowledged.length).toBeGreaterThan(5);
  const following = startCommandLine(['backup', '--follow', '--to', at('followed')], { DATA_DIR: at('data') });
  onTestFinished(() => void following.kill('SIGKILL'));
  let said = '';
  following.stderr.on('data', (chunk) => (said += chunk));
  await expect.poll(() => said).toContain('is whole, checked and followed');

  const before = [...working.acknowledged];
  const taken = await run(at('data'), 'backup', '--to', at('backup'));
  expect(taken).toMatchObject({ code: 0, out: expect.stringContaining('is whole') });
  await working.stop();
  const all = [...working.acknowledged];

  const manifest = async (name: string) => JSON.parse(await readFile(join(at(name), 'manifest.json'), 'utf8'));
  // The followed log has an invoice at least, also if the backup or the engine had it moved.
  const stopped = Date.now();
  await expect
    .poll(async () => {
      await client.post('/v1/invoices', invoiceBody());
      const { takenAt, logBytes } = await manifest('followed');
      return Date.parse(takenAt) > stopped && logBytes > 10_000;
    })
    .toBe(true);
  await service.kill();
  following.kill('SIGTERM');
  await once(following, 'close');

  for (const [copy, ids] of [
    ['backup', before],
    ['followed', all],
  ] as const) {
    const dataDir = at(`from ${copy}`);
    if (copy === 'followed') await restore('from followed', 'followed');
    else {
      const restored = await run(dataDir, 'restore', '--from', at(copy));
      expect(restored).toMatchObject({ code: 0, out: expect.stringContaining('has the data of') });
    }
    expect((await checked(dataDir)).faults).toEqual([]);
    await inStore(dataDir, async (db) => {
      const found = await db
        .collection<{ _id: string }>('invoices')
        .find({ _id: { $in: [...ids] } })
        .toArray();
      expect(found).toHaveLength(ids.length);
    });
  }
  await goesOn(at('from backup'), before);
  expect(await manifest('backup')).toMatchObject({ kind: 'complete', masterKey: true, documents: expect.any(Object) });
  execFileSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: at('backup') });
});

describe('with a backup', () => {
  it('refuses data that is there, and a second backup of the same name', async () => {
    await expect(restore('data', 'backup')).rejects.toThrow('is not empty');
    const signal = new AbortController().signal;
    const options = { to: at('backup'), withMasterKey: true, signal, say: () => undefined };
    await expect(takeBackup(readConfig({ DATA_DIR: at('data') }), options)).rejects.toThrow('exists and is not empty');
    await expect(takeBackup(readConfig({ DATA_DIR: at('data') }), { ...options, to: at('data/copy') })).rejects.toThrow(
      'is in DATA_DIR',
    );
  });

  const flip = async (path: string, offset: number) => {
    const bytes = await readFile(path);
    bytes.writeUInt8(bytes.readUInt8(offset) ^ 16, offset);
    await writeFile(path, bytes);
  };
  const damages: [string, (copy: string) => Promise<void>, string][] = [
    ['a flipped bit in the data', (copy) => flip(join(copy, 'data/db/engine.sqlite'), 50_000), 'is damaged'],
    ['no master key', (copy) => rm(join(copy, 'data/master.key')), 'is missing'],
    ['no manifest', (copy) => rm(join(copy, 'manifest.json')), 'is not a whole backup'],
    ['a flipped bit in the list of files', (copy) => flip(join(copy, 'SHA256SUMS'), 3), 'is damaged'],
    ['a flipped bit in the manifest', (copy) => flip(join(copy, 'manifest.json'), 100), 'is damaged'],
    ['data without its end', (copy) => truncate(join(copy, 'data/db/engine.sqlite'), 40_960), 'is damaged'],
    ['a flipped bit in the master key', (copy) => flip(join(copy, 'data/master.key'), 3), 'is damaged'],
  ];
  it.each(firstOf(damages, 3))('restores nothing from one with %s', async (name, damage, reason) => {
    const [copy, target] = [at(`damaged ${name}`), at(`target ${name}`)];
    await cp(at('backup'), copy, { recursive: true });
    await damage(copy);
    await expect(restore(`target ${name}`, `damaged ${name}`)).rejects.toThrow(reason);
    expect(await readdir(target).catch(() => [])).toEqual([]);
  });

  testLong('restores nothing from a followed copy with a flipped bit, or without the end of its log', async () => {
    const { folder: generation } = JSON.parse(await readFile(join(at('followed'), 'manifest.json'), 'utf8'));
    const log = 'data/db/engine.sqlite-wal';
    const damages: [string, (copy: string) => Promise<void>][] = [
      ['log', (copy) => flip(join(copy, generation, log), 9000)],
      ['end', (copy) => truncate(join(copy, generation, log), 8272)],
    ];
    for (const [name, damage] of damages) {
      const [copy, target] = [at(`followed ${name}`), at(`target ${name}`)];
      await cp(at('followed'), copy, { recursive: true });
      await damage(copy);
      await expect(restore(`target ${name}`, `followed ${name}`)).rejects.toThrow(/damaged|shorter/);
      expect(await readdir(target)).toEqual([]);
    }
  });
});

describe('as a stream', () => {
  /** Runs a command with files as standard input and output. */
  async function through(dataDir: string, input: string | null, output: string, ...args: string[]) {
    const file = input === null ? null : await open(input);
    const child = startCommandLine(args, { DATA_DIR: dataDir }, file?.fd);
    let err = '';
    child.stderr.on('data', (chunk) => (err += chunk));
    const written = pipeline(child.stdout, createWriteStream(output));
    const [[code]] = await Promise.all([once(child, 'close'), written]);
    await file?.close();
    return { code, err };
  }
  const refused = async (archive: string, reason: RegExp) => {
    const target = at(`target of ${archive}`);
    const options = { workDir: folder, signal: new AbortController().signal, say: () => undefined };
    await expect(receiveBackup({ dataDir: target }, createReadStream(at(archive)), options)).rejects.toThrow(reason);
    expect(await readdir(target).catch(() => [])).toEqual([]);
  };

  it('is an archive that tar reads, and that restores', async () => {
    const work = at('work');
    await mkdir(work);
    const sent = await through(at('data'), null, at('backup.tar'), 'backup', '--to', '-', '--work-dir', work);
    expect(sent).toMatchObject({ code: 0, err: expect.stringContaining('The backup is sent: ') });
    await mkdir(at('unpacked'));
    execFileSync('tar', ['-xf', at('backup.tar'), '-C', at('unpacked')]);
    execFileSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: at('unpacked') });
    const got = await through(
      at('received'),
      at('backup.tar'),
      at('said'),
      'restore',
      '--from',
      '-',
      '--work-dir',
      work,
    );
    expect(got.code, got.err).toBe(0);
    expect(await readFile(at('said'), 'utf8')).toContain('has the data of');
    expect((await checked(at('received'))).faults).toEqual([]);
    expect(await readdir(work)).toEqual([]);
  });

  testLong(
    'goes to another machine by the documented line: for its owner only, and in place of the last one when it is whole',
    async () => {
      const page = await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8');
      const [line = ''] = /^.*backup --to - .*$/m.exec(page) ?? [];
      const [, block = line] = /^```sh\n(set -o pipefail\n.*?)^```$/ms.exec(page) ?? [];
      const [programs, standby] = [at('programs'), at('standby')];
      await mkdir(programs);
      await mkdir(standby);
      const program = (name: string, text: string) =>
        writeFile(join(programs, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
      await program('ssh', `cd '${standby}' && sh -c "$2"`);
      const send = () => spawnSync('bash', ['-c', block], { env: { PATH: `${programs}:${process.env.PATH}` } }).status;
      const archive = join(standby, 'fatoura.tar');

      await writeFile(archive, 'the last one');
      await program('npm', 'echo a part; exit 3');
      expect(send()).toBe(3);
      expect(await readFile(archive, 'utf8')).toBe('the last one');
      await program('npm', 'echo all of it');
      expect(send()).toBe(0);
      expect(await readFile(archive, 'utf8')).toBe('all of it\n');
      expect((await stat(archive)).mode & 0o777).toBe(0o600);
      expect(await readdir(standby)).toEqual(['fatoura.tar']);
    },
  );

  testLong('is refused when its end is missing, or it is something else', async () => {
    await cp(at('backup.tar'), at('cut.tar'));
    await truncate(at('cut.tar'), Math.floor((await stat(at('backup.tar'))).size * 0.6));
    await refused('cut.tar', /cannot be read|damaged|missing|whole/);
    await writeFile(at('other.tar'), 'not an archive');
    await refused('other.tar', /cannot be read|whole/);
    await writeFile(at('empty.tar'), '');
    await refused('empty.tar', /cannot be read|whole/);
  });

  it('writes nothing outside of its folder, and follows no links', async () => {
    await mkdir(at('hostile'));
    await writeFile(at('victim'), 'as it was');
    await writeFile(at('hostile/evil'), 'overwritten');
    await symlink(at('victim'), at('hostile/link'));
    execFileSync('tar', ['-cPf', at('hostile.tar'), '--transform', 's,^evil$,../../victim,', 'evil', 'link'], {
      cwd: at('hostile'),
    });
    await refused('hostile.tar', /cannot be read|whole/);
    expect(await readFile(at('victim'), 'utf8')).toBe('as it was');
  });

  const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
  for (const signal of SIGNALS)
    testLong(`leaves nothing after ${signal}, sending and receiving`, async () => {
      const work = at(`work ${signal}`);
      await mkdir(work);
      const sending = startCommandLine(['backup', '--to', '-', '--work-dir', work], { DATA_DIR: at('data') });
      // Nobody reads: what does not fit into the pipe waits.
      let said = '';
      sending.stderr.on('data', (chunk) => (said += chunk));
      await expect.poll(() => said).toContain('sending');
      sending.kill(signal);
      expect(await once(sending, 'exit')).toEqual([130, null]);
      expect(await readdir(work)).toEqual([]);

      const target = at(`target ${signal}`);
      execFileSync('mkfifo', [at(`pipe ${signal}`)]);
      const pipe = await open(at(`pipe ${signal}`), 'r+');
      const args = ['restore', '--from', '-', '--work-dir', work];
      const receiving = startCommandLine(args, { DATA_DIR: target }, pipe.fd);
      await pipe.write((await readFile(at('backup.tar'))).subarray(0, 50_000));
      await expect.poll(async () => (await readdir(work, { recursive: true })).length).toBeGreaterThan(1);
      receiving.kill(signal);
      expect(await once(receiving, 'exit')).toEqual([130, null]);
      await pipe.close();
      expect(await readdir(work)).toEqual([]);
      expect(await readdir(target).catch(() => [])).toEqual([]);
    });

  testLong('leaves nothing when its target is full', async () => {
    const work = at('work full');
    await mkdir(work);
    const args = [CLI, 'backup', '--to', '-', '--json', '--work-dir', work];
    const full = spawnSync('sh', ['-c', 'exec "$@" > /dev/full', 'sh', process.execPath, ...args], {
      env: { PATH: process.env.PATH, DATA_DIR: at('data') },
      encoding: 'utf8',
    });
    expect(full.status).toBe(1);
    expect(full.stderr).toMatch(/^ENOSPC: no space left on device, write\n$/);
    expect(await readdir(work)).toEqual([]);
  });

  it('needs a folder to work in, and an empty DATA_DIR before it receives anything', async () => {
    const wrong = await run(at('data'), 'backup', '--to', '-', '--work-dir', at('none'));
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('is not a folder') });
    const other = await run(at('data'), 'backup', '--to', at('x'), '--work-dir', folder);
    expect(other).toMatchObject({ code: 2, err: expect.stringContaining('belongs to an archive') });
    const taken = await through(at('data'), at('backup.tar'), at('said'), 'restore', '--from', '-');
    expect(taken).toMatchObject({ code: 1, err: expect.stringMatching(/^[^\n]*is not empty[^\n]*\n$/) });
    const json = await through(at('data'), null, at('json.tar'), 'backup', '--to', '-', '--json');
    expect(JSON.parse(json.err)).toMatchObject({ kind: 'complete', documents: expect.any(Object) });
  });

  testLong('ends with an error when nobody reads it, and leaves nothing', async () => {
    const work = at('unread');
    await mkdir(work);
    const child = startCommandLine(['backup', '--to', '-', '--work-dir', work], { DATA_DIR: at('data') });
    child.stdout.destroy();
    const [code] = await once(child, 'close');
    expect(code).toBe(1);
    expect(await readdir(work)).toEqual([]);
  });
});

it('a store is refused into which a restore was interrupted', async () => {
  await cp(at('backup'), at('half/.restoring'), { recursive: true });
  await expect(inStore(at('half'), async () => undefined)).rejects.toThrow(/was interrupted/);
});

it('check finds a document and an invoice that are gone, an event of it, and a number that another invoice has', async () => {
  const dataDir = at('from followed');
  const [first, second, gone, unnumbered] = await inStore(dataDir, async (db) => {
    const found = await db.collection('invoices').find({ status: 'accepted' }).sort({ _id: 1 }).limit(2).toArray();
    await db.collection('documents.chunks').deleteMany({ files_id: new ObjectId(found[0]?.xml.file as string) });
    await db
      .collection('invoice_numbers')
      .updateOne({ invoiceId: found[1]?._id }, { $set: { invoiceId: 'inv_other' } });
    const numbers = db.collection<{ _id: string; invoiceId: string }>('invoice_numbers');
    const [gone, unnumbered] = await numbers
      .find({ invoiceId: { $nin: [found[0]?._id as never, 'inv_other'] } })
      .sort({ _id: -1 })
      .limit(3)
      .toArray();
    await db.collection('invoices').deleteOne({ _id: gone?.invoiceId as never });
    await db.collection('invoices').deleteOne({ _id: unnumbered?.invoiceId as never });
    await numbers.deleteOne({ _id: unnumbered?._id as string });
    // Their events may or may not have been published before the service died: one is left.
    const events = db.collection<{ _id: string; [field: string]: unknown }>('webhook_events');
    const [invoiceId, other] = [gone?.invoiceId, unnumbered?.invoiceId];
    await events.deleteMany({ invoiceId: { $in: [invoiceId, other] } });
    await events.insertOne({ _id: 'evt_left', tenantId: found[0]?.tenantId, invoiceId, sequence: 1 });
    return [...found, gone, unnumbered];
  });
  const { faults } = await checked(dataDir);
  expect(faults).toHaveLength(7);
  expect(faults).toEqual(
    expect.arrayContaining([
      expect.stringContaining(`invoice ${first?._id}: the bytes of its xml`),
      expect.stringMatching(new RegExp(`^invoice ${second?._id}: its number .* is taken by inv_other$`)),
      expect.stringContaining('0 of 1 chunks are stored'),
      expect.stringMatching(/^number '.*': its invoice inv_other does not exist$/),
      `number '${gone?._id}': its invoice ${gone?.invoiceId} does not exist`,
      expect.stringMatching(/^number '.*': there are none from \d+ to \d+$/),
      `event evt_left: its invoice ${gone?.invoiceId} does not exist`,
    ]),
  );
  const serial = Number(String(unnumbered?._id).split(' ')[3]);
  expect(faults.join()).toContain(`there are none from ${serial} to ${serial}`);
  expect(await run(dataDir, 'check')).toMatchObject({ code: 1, out: expect.stringContaining('7 faults') });
});
