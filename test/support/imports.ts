import { expect } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { type Import, type ImportedInvoice, NO_COUNTS } from '../../src/domain/imports/import.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import type { Owner } from '../../src/domain/tenant/tenant.ts';
import type { Client } from './client.ts';

export const HEADERS = 'Numéro de facture;Client;ICE du client;Désignation;Quantité;Prix unitaire HT;Taux de TVA';
export const ICE = '001234567000089';

/** Makes a CSV file of invoices with one line each. @param rows cells below the headers */
export function csvOf(rows: readonly (readonly (string | number)[])[], headers = HEADERS): string {
  return [headers, ...rows.map((cells) => cells.join(';'))].map((line) => `${line}\r\n`).join('');
}

/** A row of {@link csvOf}. */
export function row(number: string, changes: { name?: string; ice?: string; price?: string; text?: string } = {}) {
  const { name = 'Atlas SARL', ice = ICE, price = '100,00', text = 'Stylos' } = changes;
  return [number, name, ice, text, 2, price, 20];
}

const IMPORT_FACTS = `id status settled fileName failure { code message }
  reading { format encoding separator decimalSign language rows invoices missing columns { key header field } }
  counts { invoices ready faulty known issued refused accepted rejected }`;
const INVOICES = `invoices(first: 100) { nodes { id firstRow lastRow label number customerName amount verdict
  problems { row column header value code param message } warnings { code message } invoice { id number status amount } } }`;

/** Uploads a file. */
export function sendFile(url: string, secretKey: string, content: string | Uint8Array, name = 'ventes.csv') {
  return fetch(`${url}/imports?name=${encodeURIComponent(name)}&language=fr`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secretKey}` },
    body: content as BodyInit,
  });
}

/** Uploads a file and waits for its verdicts. */
export async function uploaded(client: Client, url: string, secretKey: string, content: string, name?: string) {
  const answer = await sendFile(url, secretKey, content, name);
  expect(answer.status).toBe(201);
  const { id } = (await answer.json()) as { id: string };
  return until(client, id, ({ status }) => status !== 'reading');
}

/** Reads an import with its invoices. */
export async function readImport(client: Client, id: string) {
  const { body } = await client.graphql(`query ($id: ID!) { import(id: $id) { ${IMPORT_FACTS} ${INVOICES} } }`, { id });
  if (body.errors) throw new Error(JSON.stringify(body.errors));
  return body.data.import;
}

/** Waits until an import reaches a state. */
export async function until(
  client: Client,
  id: string,
  isFar: (facts: { status: string; settled: boolean }) => boolean,
) {
  await expect.poll(async () => isFar(await readImport(client, id)), { timeout: 20_000, interval: 50 }).toBe(true);
  return readImport(client, id);
}

/** Starts an import and waits until all of its invoices are decided. */
export async function started(client: Client, id: string) {
  const { startImport } = (await client.graphql(START, { id })).body.data;
  expect(startImport.message).toBeUndefined();
  return until(client, id, ({ settled }) => settled);
}

export const START = `mutation ($id: ID!) { startImport(id: $id) {
  ... on StartImportPayload { import { id status } } ... on Error { code message } } }`;

/** Makes a stored import that was checked, with all fields. @param text for its texts */
export function anImport(owner: Owner, text: string, changes: Partial<Import> = {}): Import {
  const actor = { kind: 'person', id: 'per_1', name: text } as const;
  const column = { index: 0, header: text, key: text, field: 'customer.name', isResult: false } as const;
  const later = new Date(Date.now() + 3_600_000);
  return {
    id: newId('imp'),
    ...owner,
    ...newCreationMoment(),
    createdBy: actor,
    language: 'fr',
    mapping: null,
    status: 'checked',
    round: 1,
    counts: NO_COUNTS,
    isSettled: false,
    expiresAt: later,
    file: { name: text, size: 1, sha256: 'ab'.repeat(32) },
    reading: {
      format: 'csv',
      sheet: text,
      otherSheets: [text],
      encoding: 'utf-8',
      separator: ';',
      decimalSign: ',',
      dateOrder: 'dmy',
      dateSystem: 1900,
      headerRow: 1,
      columns: [column],
      missing: ['customer.ice'],
      language: 'fr',
      ignoredRows: [{ row: 2, reason: 'total' }],
      rows: 3,
      invoices: 1,
    },
    failure: { code: 'damaged', facts: {} },
    startedAt: new Date(),
    startedBy: actor,
    ...changes,
  };
}

/** Makes a stored invoice of an import, with all fields. */
export function anImportedInvoice(
  owner: Owner,
  importId: string,
  invoiceId: string | null,
  text: string,
  changes: Partial<ImportedInvoice> = {},
): ImportedInvoice {
  const place = { sheet: text, row: 2, column: 0 };
  return {
    ...owner,
    importId,
    round: 1,
    nth: 0,
    sheet: text,
    firstRow: 2,
    lastRow: 3,
    label: text,
    key: 'number 1',
    digest: 'ab',
    raw: 'cd',
    rawPlace: 0,
    input: '{}',
    number: text,
    customerName: text,
    amount: 12_000,
    verdict: 'issued',
    problems: [{ place, header: text, value: text, code: 'not_a_number', param: 'lines.0.quantity', facts: {} }],
    warnings: [{ code: 'rounding', path: 'amount', message: text }],
    invoiceId,
    outcome: null,
    ...changes,
  };
}
