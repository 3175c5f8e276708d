import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { randomNumbers } from '../../scripts/random-numbers.ts';
import { restoreBackup } from '../../src/app/backup/restore-backup.ts';
import { checkStore } from '../../src/app/check-store.ts';
import { openStore } from '../../src/app/store.ts';
import { readConfig } from '../../src/config.ts';
import { doomedServer } from '../support/chaos-server.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { startCommandLine } from '../support/command-line.ts';

const ROUNDS = Number(process.env.BACKUP_ROUNDS ?? 8);
const SEED = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000);
const CLIENTS = 6;

interface Acknowledged {
  readonly id: string;
  readonly at: number;
}

async function manifestOf(folder: string): Promise<{ takenAt: string } | null> {
  return readFile(join(folder, 'manifest.json'), 'utf8').then(
    (text) => JSON.parse(text) as { takenAt: string },
    () => null,
  );
}

async function kill(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.kill(signal);
  await closed;
}

/** Restores a copy beside the others, checks it and looks for invoices. */
async function hasAll(folder: string, from: string, ids: readonly string[]): Promise<void> {
  const dataDir = join(folder, 'restored');
  await rm(dataDir, { recursive: true, force: true });
  await restoreBackup({ dataDir }, from, { signal: new AbortController().signal, say: () => undefined });
  const config = readConfig({ DATA_DIR: dataDir });
  const faults: string[] = [];
  await checkStore(
    config,
    (text) => void faults.push(text),
    () => undefined,
  );
  expect(faults).toEqual([]);
  const store = await openStore(config, { join: false });
  try {
    const invoices = store.db.collection<{ _id: string }>('invoices');
    const found = new Set((await invoices.find({}, { projection: { _id: 1 } }).toArray()).map(({ _id }) => _id));
    expect(ids.filter((id) => !found.has(id))).toEqual([]);
  } finally {
    await store.close();
  }
}

it(`a followed copy and backups are whole whatever is killed, and when (${ROUNDS} rounds, TEST_SEED=${SEED})`, async () => {
  const random = randomNumbers(SEED);
  const folder = await mkdtemp(join(tmpdir(), 'backup-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  const [dataDir, followed] = [join(folder, 'data'), join(folder, 'followed')];
  const service = doomedServer({ LOG_LEVEL: 'error', RATE_LIMIT_SECRET: '1000000', DATA_DIR: dataDir });
  onTestFinished(() => service.kill());
  const acknowledged: Acknowledged[] = [];
  const behind: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await service.start();
    const client = new Client(await service.url(), service.secretKey());
    let isStopped = false;
    const work = Array.from({ length: CLIENTS }, async () => {
      while (!isStopped) {
        const answer = await client.post('/v1/invoices', invoiceBody()).catch(() => null);
        if (answer?.status === 201) acknowledged.push({ id: answer.body.id, at: Date.now() });
      }
    });
    const follower = startCommandLine(['backup', '--follow', '--to', followed], { DATA_DIR: dataDir });
    let said = '';
    follower.stderr.on('data', (chunk) => (said += chunk));
    onTestFinished(() => kill(follower, 'SIGKILL'));
    // In every other round the follower is killed before, or while, its copy becomes whole.
    if (round % 2 === 0) await expect.poll(() => said).toContain('is whole, checked and followed');
    await sleep(random() * 6000);

    const before = acknowledged.map(({ id }) => id);
    const backup = startCommandLine(['backup', '--to', join(folder, `backup ${round}`)], { DATA_DIR: dataDir });
    const isTaken = round % 3 !== 2;
    if (isTaken) expect(await once(backup, 'close')).toEqual([0, null]);
    else {
      await sleep(200 + random() * 1500);
      await kill(backup, 'SIGKILL');
    }
    await (random() < 0.5 ? service.kill() : kill(follower, 'SIGKILL'));
    const killedAt = Date.now();
    await Promise.all([service.kill(), kill(follower, 'SIGKILL')]);
    isStopped = true;
    await Promise.all(work);

    if (isTaken) await hasAll(folder, join(folder, `backup ${round}`), before);
    else if (!(await manifestOf(join(folder, `backup ${round}`))))
      await expect(hasAll(folder, join(folder, `backup ${round}`), [])).rejects.toThrow('is not a whole backup');
    for (const name of (await readdir(folder)).filter((each) => each.startsWith('backup ')))
      await rm(join(folder, name), { recursive: true });
    const manifest = await manifestOf(followed);
    if (round === 0) expect(manifest).not.toBeNull();
    if (!manifest) continue;
    const takenAt = Date.parse(manifest.takenAt);
    if (round % 2 === 0) behind.push(killedAt - takenAt);
    await hasAll(
      folder,
      followed,
      acknowledged.filter(({ at }) => at < takenAt).map(({ id }) => id),
    );
  }
  console.log(`${acknowledged.length} invoices; the followed copy was behind by, ms: ${behind.join(', ')}`);
});
