import { expect, it } from 'vitest';
import { problem } from '../../../../src/domain/errors.ts';
import { createInvoiceChecker } from '../../../../src/domain/imports/check-invoices.ts';
import type { ImportInvoicing } from '../../../../src/domain/imports/invoicing.ts';
import type { ReadInvoice } from '../../../../src/domain/imports/reading.ts';
import type { Member } from '../../../../src/domain/principal.ts';
import { anImport } from '../../../support/imports.ts';

const OWNER = { tenantId: 'ten_1', environment: 'test' } as const;
const BY = { kind: 'secret', keyId: 'key_1' } as Member;

/** What an invoice store knows: the digest of each issued invoice, by its id. */
function invoicingOf(issued: Record<string, string>, problems: Parameters<typeof problem>[] = []): ImportInvoicing {
  return {
    completed: (input) => ({ ...input, amount: 100 }),
    digestOf: (input) => JSON.stringify(input),
    idOf: (_owner, key) => `inv ${key}`,
    existing: async (ids) => new Set(ids.filter((id) => id in issued)),
    wasIssuedOf: async (id, digest) => issued[id] === digest,
    check: async () => ({ problems: problems.map((each) => problem(...each)), warnings: [] }),
    issue: async () => ({ invoiceId: 'inv', isOwn: true }),
    statusesOf: async () => new Map(),
  };
}

let places = 0;
function read(input: Record<string, unknown>, changes: Partial<ReadInvoice> = {}): ReadInvoice {
  const nth = places++;
  const row = nth + 2;
  const cell = { sheet: null, row, column: 3, header: 'Quantité', value: 'x' };
  return {
    ...{
      nth,
      sheet: null,
      firstRow: row,
      lastRow: row,
      label: null,
      input,
      problems: [],
      raw: `${nth}`,
      resultNumber: null,
    },
    origins: { 'lines.0.quantity': cell, 'customer.ice': { ...cell, column: 1, header: 'ICE' } },
    ...changes,
  };
}

const checked = async (invoicing: ImportInvoicing, ...batches: ReadInvoice[][]) => {
  const checker = createInvoiceChecker(invoicing, anImport(OWNER, 'a'), BY);
  const rows = [];
  for (const batch of batches) rows.push(...(await checker.check(batch)));
  return { rows, counts: checker.counts() };
};

it('knows an invoice by its number, or by its content and which of equal ones it is, across batches', async () => {
  const same = { customer: { name: 'A' } };
  const { rows, counts } = await checked(
    invoicingOf({}),
    [read({ number: 'F-1' }), read(same)],
    [read(same), read({ number: 'F-1', customer: 'other' })],
  );
  expect(rows.map(({ key }) => key)).toEqual([
    'number F-1',
    `content ${JSON.stringify(same)} 1`,
    `content ${JSON.stringify(same)} 2`,
    'number F-1',
  ]);
  expect(rows.map(({ verdict }) => verdict)).toEqual(['ready', 'ready', 'ready', 'faulty']);
  expect(rows[3]?.problems).toMatchObject([
    { code: 'number_repeated', facts: { number: 'F-1', row: rows[0]?.firstRow } },
  ]);
  expect(counts).toMatchObject({ invoices: 4, ready: 3, faulty: 1 });
});

it('distinguishes what was issued of the same content from a number that was issued otherwise', async () => {
  const input = { number: 'F-1', customer: 'A' };
  const issued = invoicingOf({ 'inv number F-1': JSON.stringify(input) });
  const [known] = (await checked(issued, [read(input)])).rows;
  expect(known).toMatchObject({ verdict: 'known', invoiceId: 'inv number F-1', problems: [] });
  const [other] = (await checked(issued, [read({ ...input, customer: 'B' })])).rows;
  expect(other).toMatchObject({ verdict: 'faulty', problems: [{ code: 'number_issued_otherwise' }] });
});

it('places each problem of the API at its cell, and leaves out what follows from an unread cell', async () => {
  const ofApi = invoicingOf({}, [
    ['invalid_ice', 'customer.ice must be …', 'customer.ice'],
    ['invalid_request', 'lines.0.quantity is required', 'lines.0.quantity'],
    ['amount_mismatch', 'amount is required', 'amount'],
  ]);
  const [whole] = (await checked(ofApi, [read({ lines: [] })])).rows;
  expect(whole?.problems.map(({ param, place }) => [param, place.column])).toEqual([
    ['customer.ice', 1],
    ['lines.0.quantity', 3],
    ['amount', null],
  ]);
  const unread = read({ lines: [] });
  const place = { sheet: null, row: unread.firstRow, column: 3 };
  const faults = [
    { place, header: 'Quantité', value: 'x', code: 'not_a_number', param: 'lines.0.quantity', facts: {} },
  ];
  const [partly] = (await checked(ofApi, [{ ...unread, problems: faults }])).rows;
  expect(partly?.problems.map(({ code }) => code)).toEqual(['not_a_number', 'invalid_ice']);
  // The whole row is unclear: nothing can be said of its fields.
  const ofRow = faults.map((each) => ({ ...each, param: null }));
  const [unclear] = (await checked(ofApi, [{ ...unread, problems: ofRow }])).rows;
  expect(unclear?.problems.map(({ code }) => code)).toEqual(['not_a_number']);
});
