import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createSpreadsheetReader } from '../../../../src/adapters/spreadsheet/spreadsheet-reader.ts';
import { cellOf } from '../../../../src/domain/imports/origins.ts';
import { type ReadInvoice, type SpreadsheetReader, UnreadableFile } from '../../../../src/domain/imports/reading.ts';
import { readSpreadsheet } from '../../../support/read-spreadsheet.ts';

// Takes more than 2 s of CPU: each file gets a thread of its own.

let folder: string;
let reader: SpreadsheetReader;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spreadsheets-'));
});
afterEach(() => reader.close());
afterAll(() => rm(folder, { recursive: true }));

const HEAD = 'Facture;Client;ICE;Désignation;Quantité;PU HT;TVA';
const OPTIONS = { name: 'factures.csv', language: 'fr', mapping: null } as const;

async function fileOf(text: string): Promise<string> {
  const file = join(folder, `${Math.random()}.csv`);
  await writeFile(file, text);
  return file;
}

const manyInvoices = () =>
  fileOf([HEAD, ...Array.from({ length: 300 }, (_, nth) => `F${nth};Rif;;Thé;2;12,50;20`)].join('\n'));

it('reads the invoices of a file in batches, as it does without a thread', async () => {
  reader = createSpreadsheetReader();
  const file = await manyInvoices();
  const { reading, batches } = await reader.read(file, OPTIONS);
  const read: ReadInvoice[][] = [];
  for await (const batch of batches) read.push([...batch]);
  const expected = await readSpreadsheet(file);
  expect(reading).toEqual(expected.reading);
  expect(read.flat()).toEqual(expected.invoices);
  expect(read.length).toBeGreaterThan(1);
});

it('says why a file is refused', async () => {
  reader = createSpreadsheetReader();
  const refused = await reader.read(await fileOf('%PDF-1.7'), OPTIONS).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(UnreadableFile);
  expect(refused).toMatchObject({ code: 'not_a_spreadsheet', facts: {} });
  const missing = reader.read(join(folder, 'none.csv'), OPTIONS);
  await expect(missing).rejects.toThrow('ENOENT');
});

it('reads two files at once, and the next one when somebody has left', async () => {
  reader = createSpreadsheetReader();
  const file = await manyInvoices();
  const [first, second] = await Promise.all([reader.read(file, OPTIONS), reader.read(file, OPTIONS)]);
  let isThird = false;
  const third = reader.read(file, OPTIONS).then((opened) => {
    isThird = true;
    return opened;
  });
  await first.batches.next();
  expect(isThird).toBe(false);
  await first.batches.return?.();
  const { batches } = await third;
  expect((await batches.next()).done).toBe(false);
  await Promise.all([batches.return?.(), second.batches.return?.()]);
});

it('frees a place that was never used', async () => {
  reader = createSpreadsheetReader();
  const file = await manyInvoices();
  for (let nth = 0; nth < 3; nth++) await (await reader.read(file, OPTIONS)).batches.return?.();
  const { reading } = await reader.read(file, OPTIONS);
  expect(reading.invoices).toBe(300);
});

it('ends when its caller gives up', async () => {
  reader = createSpreadsheetReader();
  const { signal, abort } = abortable();
  const { batches } = await reader.read(await manyInvoices(), { ...OPTIONS, signal });
  await batches.next();
  abort(new Error('given up'));
  await expect(batches.next()).rejects.toThrow('given up');
  await expect(reader.read('any', { ...OPTIONS, signal })).rejects.toThrow('given up');
});

it('refuses a file that needs too much memory, and reads the next one', async () => {
  const greedy = join(folder, 'greedy.mjs');
  await writeFile(
    greedy,
    `const kept = [];
     export default ({ open }) => {
       if (open.file === 'small') return { reading: { rows: 1 } };
       for (;;) kept.push(Array.from({ length: 1000 }, (_, i) => ({ i })));
     };`,
  );
  reader = createSpreadsheetReader(undefined, pathToFileURL(greedy));
  await expect(reader.read('large', OPTIONS)).rejects.toMatchObject({ code: 'too_costly' });
  const { reading, batches } = await reader.read('small', OPTIONS);
  expect(reading.rows).toBe(1);
  await batches.return?.();
});

it('finds the cell of a problem of the invoice', async () => {
  reader = createSpreadsheetReader();
  const file = await fileOf(`${HEAD};Échéance\nF1;Rif;;Thé;2;12,50;20;\n;;;Sucre;1;8;20;`);
  const { batches } = await reader.read(file, OPTIONS);
  const [invoice] = (await batches.next()).value ?? [];
  await batches.return?.();
  if (!invoice) throw new Error('no invoice');
  const place = (param: string | null) => {
    const { row, column } = cellOf(invoice, param);
    return [row, column];
  };
  expect(place('customer.name')).toEqual([2, 1]);
  expect(place('customer.ice')).toEqual([2, 1]);
  expect(place('lines.1.quantity')).toEqual([3, 4]);
  expect(place('lines.1.discount')).toEqual([3, null]);
  expect(place('amount')).toEqual([2, null]);
  expect(place(null)).toEqual([2, null]);
});

function abortable() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: (reason: Error) => controller.abort(reason) };
}
