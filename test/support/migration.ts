import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

import type { Db } from 'mongodb';
import { startServer } from '../../src/engine/server.ts';
import { connect, type Store } from '../../src/storage/connect.ts';
import { startCommandLine } from './command-line.ts';

export interface EndedMigration {
  /** null after a kill. */
  readonly code: number | null;
  readonly out: string;
  /** The lines of progress, or the error. */
  readonly err: string;
  /** The most memory at any line of progress, MiB; 0 where the system does not tell. */
  readonly memoryMiB: number;
}

/**
 * Runs the command `migrate`.
 * @param killAt kill -9 as soon as a line of progress matches
 */
export async function runMigration(
  args: readonly string[],
  environment: Record<string, string>,
  killAt?: RegExp,
): Promise<EndedMigration> {
  const child = startCommandLine(['migrate', ...args], environment);
  const texts = { out: '', err: '' };
  let memoryMiB = 0;
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    texts.out += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    texts.err += chunk;
    memoryMiB = Math.max(memoryMiB, peakMemory(child.pid));
    if (killAt?.test(texts.err)) child.kill('SIGKILL');
  });
  const [code] = await once(child, 'close');
  return { code, ...texts, memoryMiB };
}

/** MiB */
function peakMemory(pid: number | undefined): number {
  try {
    const [, kib] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Math.round(Number(kib ?? 0) / 1024);
  } catch {
    return 0;
  }
}

/** Opens the embedded engine of a service that is stopped, in this thread. */
export async function openEmbedded(dataDir: string): Promise<Store> {
  const engine = await startServer({ dataDir: `${dataDir}/db` });
  const store = await connect(engine.uri);
  return {
    ...store,
    async close() {
      await store.close();
      await engine.close();
    },
  };
}

/** Number of documents and SHA-256 of their bytes in the order of `_id`, of each collection that has any. */
export async function digests(db: Db): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { name } of await db.listCollections({}, { nameOnly: true }).toArray()) {
    const hash = createHash('sha256');
    let documents = 0;
    for await (const bytes of db.collection(name).find<Buffer>({}, { raw: true, sort: { _id: 1 } })) {
      hash.update(bytes);
      documents++;
    }
    if (documents > 0) found[name] = `${documents} ${hash.digest('hex')}`;
  }
  return found;
}

/** Of the digests, those of the given collections. */
export function of(found: Record<string, string>, names: ReadonlySet<string>): Record<string, string> {
  return Object.fromEntries(Object.entries(found).filter(([name]) => names.has(name)));
}

/** What identifies an index, as JSON, by collection and name: of those collections that are there. */
export async function indexTexts(db: Db, names: ReadonlySet<string>): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { name } of await db.listCollections({}, { nameOnly: true }).toArray()) {
    if (!names.has(name)) continue;
    for (const { v: _v, ns: _ns, name: index, ...rest } of await db.collection(name).listIndexes().toArray())
      found[`${name} ${index}`] = JSON.stringify(
        Object.entries(rest)
          .filter(([, v]) => v !== false)
          .sort(),
      );
  }
  return found;
}
