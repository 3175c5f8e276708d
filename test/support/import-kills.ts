import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomNumbers } from '../../scripts/random-numbers.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { doomedServer } from './chaos-server.ts';
import { ICE } from './imports.ts';
import { runningStore } from './running-store.ts';

export interface ImportKillsPlan {
  readonly seed: number;
  /** Number of invoices in the file. */
  readonly invoices: number;
  /** Number of lines of each invoice. */
  readonly lines: number;
  /** Number of kills (kill -9), spread over the reading and the issuing. */
  readonly kills: number;
  /** Maximum duration of the import after the last kill, milliseconds. */
  readonly patienceMs: number;
  readonly environment?: Readonly<Record<string, string>>;
  /** Stops the service when the test is aborted. */
  readonly signal: AbortSignal;
}

export interface ImportKillsOutcome {
  /** Number of invoices issued at the time of each kill. */
  readonly issuedAtKills: readonly number[];
  readonly counts: Readonly<Record<string, number>>;
  /** The texts of the first lines of all invoices, sorted. Each text belongs to one invoice of the file. */
  readonly texts: readonly string[];
  /** The texts in the order of the numbers of the series. */
  readonly byNumber: readonly string[];
  readonly complaints: readonly string[];
}

interface Facts {
  readonly status: string;
  readonly settled: boolean;
  readonly counts: { readonly issued: number } & Readonly<Record<string, number>>;
}

const QUERY = '{ status settled counts { invoices ready issued known refused faulty accepted } }';

/** Makes a CSV file of invoices without own numbers. Each invoice has a different text. */
export function fileOf(invoices: number, lines: number): string {
  const rows = ['Repère de la facture;Client;ICE du client;Désignation;Quantité;Prix unitaire HT;Taux de TVA'];
  for (let n = 0; n < invoices; n++)
    for (let line = 0; line < lines; line++)
      rows.push([`R-${n}`, `Client ${n % 97}`, ICE, textOf(n, line), line + 1, '12,50', 20].join(';'));
  return `${rows.join('\r\n')}\r\n`;
}

function textOf(invoice: number, line: number): string {
  return `Article ${String(invoice).padStart(6, '0')}.${line}`;
}

/** Returns the texts of the first lines of a file's invoices. */
export const textsOf = (invoices: number): string[] => Array.from({ length: invoices }, (_, n) => textOf(n, 0));

/**
 * Imports a file with a service that is killed repeatedly and restarted on the same folder.
 * @returns the contents of the store at the end
 */
export async function runImportKills(plan: ImportKillsPlan): Promise<ImportKillsOutcome> {
  const random = randomNumbers(plan.seed);
  const dataDir = await mkdtemp(join(tmpdir(), 'import-kills-'));
  const server = doomedServer({
    CHROMIUM_PATH: '/nonexistent',
    LOG_LEVEL: 'error',
    ...plan.environment,
    DATA_DIR: dataDir,
    RATE_LIMIT_SECRET: '1000000',
  });
  plan.signal.addEventListener('abort', () => void server.kill());
  /** Repeats a query while a process is dead or starting. */
  async function ask<Data>(query: string): Promise<Data> {
    for (;;) {
      try {
        const response = await fetch(`${await server.url()}/graphql`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${server.secretKey()}`, 'Content-Type': 'application/json' },
          body: JSON.stringify({ query }),
          signal: AbortSignal.timeout(20_000),
        });
        const { data, errors } = (await response.json()) as { data: Data; errors?: unknown };
        if (errors) throw new Error(JSON.stringify(errors));
        return data;
      } catch (error) {
        plan.signal.throwIfAborted();
        if (!(error instanceof TypeError)) throw error;
        await sleep(20);
      }
    }
  }
  try {
    await server.start();
    const issuedAtKills: number[] = [];
    const sent = await fetch(`${await server.url()}/imports?name=a.csv&language=fr`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${server.secretKey()}` },
      body: fileOf(plan.invoices, plan.lines),
    });
    const { id } = (await sent.json()) as { id: string };
    const read = async () => (await ask<{ import: Facts }>(`{ import(id: "${id}") ${QUERY} }`)).import;
    const killNow = async () => {
      issuedAtKills.push((await read()).counts.issued);
      await server.kill();
      await server.start();
    };
    // One kill while the file is read; the reading then starts again.
    await killNow();
    while ((await read()).status !== 'checked') await sleep(20);
    await ask(`mutation { startImport(id: "${id}") { __typename } }`);
    for (let kill = 1; kill < plan.kills; kill++) {
      // At a random place in its part of the invoices. The counts of an import lag behind.
      const from = (plan.invoices * (kill - 1 + random())) / plan.kills;
      for (let facts = await read(); facts.status === 'issuing' && facts.counts.issued < from; facts = await read())
        await sleep(10);
      await sleep(random() * 150);
      await killNow();
    }
    const end = Date.now() + plan.patienceMs;
    let facts = await read();
    while (!facts.settled && Date.now() < end) {
      await sleep(100);
      facts = await read();
    }
    const { db, close } = await runningStore(dataDir);
    const invoices = await db.collection<InvoiceDocument>('invoices').find().toArray();
    await close();
    await server.stop();
    const texts = (of: readonly InvoiceDocument[]) => of.map(({ lines }) => lines[0]?.description ?? '');
    const bySerial = invoices.toSorted((a, b) => (a.series?.serial ?? 0) - (b.series?.serial ?? 0));
    return {
      issuedAtKills,
      counts: facts.counts,
      texts: texts(invoices).sort(),
      byNumber: texts(bySerial),
      complaints: server.seen.complaints,
    };
  } finally {
    await server.kill();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  }
}
