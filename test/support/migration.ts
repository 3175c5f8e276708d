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
  /** The progress lines, or the error. */
  readonly err: string;
  /** Maximum memory at any progress line, MiB; 0 if the system does not report it. */
  readonly memoryMiB: number;
}

/** Runs the command `migrate`. @param killAt the command is killed (kill -9) as soon as a progress line matches */
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

/** Returns the peak memory of a process, MiB. */
function peakMemory(pid: number | undefined): number {
  try {
    const [, kib] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Math.round(Number(kib ?? 0) / 1024);
  } catch {
    return 0;
  }
}

/** Opens the embedded engine of a stopped service in this thread. */
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

/**
 * Returns the number of documents of each collection that is not empty, and the SHA-256 of their bytes in the order of
 * `_id`.
 */
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

/** Returns those of the digests that belong to the given collections. */
export function of(found: Record<string, string>, names: ReadonlySet<string>): Record<string, string> {
  return Object.fromEntries(Object.entries(found).filter(([name]) => names.has(name)));
}

/**
 * Returns the identifying parts of each index as JSON, by collection and name, for those of the collections that exist.
 */
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
