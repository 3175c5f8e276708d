import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { problem } from '../../../../src/domain/errors.ts';
import { createInvoiceChecker } from '../../../../src/domain/imports/check-invoices.ts';
import type { ImportedInvoice } from '../../../../src/domain/imports/import.ts';
import type { IssuedRows, RowPlace } from '../../../../src/domain/imports/import-store.ts';
import type { ImportInvoicing } from '../../../../src/domain/imports/invoicing.ts';
import { findIssued } from '../../../../src/domain/imports/issued-of-file.ts';
import type { ReadInvoice } from '../../../../src/domain/imports/reading.ts';
import { saleMarksOf } from '../../../../src/domain/imports/sale-marks.ts';
import type { Member } from '../../../../src/domain/principal.ts';
import { anImport } from '../../../support/imports.ts';

const OWNER = { tenantId: 'ten_1', environment: 'test' } as const;
const NO_MARKS = { lines: [], facts: {} };
const BY = { kind: 'secret', keyId: 'key_1' } as Member;

/** What an invoice store knows: the digest of each issued invoice, by its id. */
function invoicingOf(
  issued: Record<string, string>,
  problems: Parameters<typeof problem>[] = [],
  rows: Record<string, string[]> = {},
) {
  const rawOf = (id: string) => Object.keys(rows).find((raw) => rows[raw]?.includes(id)) ?? 'of no file';
  const invoicing: ImportInvoicing = {
    completed: (input) => ({ ...input, amount: 100 }),
    digestOf: (input) => JSON.stringify(input),
    idOf: (_owner, key) => `inv ${key}`,
    issuedAs: async (ids) =>
      new Map(
        ids.flatMap((id) => {
          const digest = issued[id];
          if (digest === undefined) return [];
          const isRejected = digest.startsWith('rejected ');
          const date = '2026-11-01';
          const raw = rawOf(id);
          return [[id, { digest: digest.replace('rejected ', ''), raw, number: `N ${id}`, date, isRejected }]];
        }),
      ),
    findByNumber: async (_owner, number) => (`inv number ${number}` in issued ? `inv number ${number}` : null),
    check: async () => ({ problems: problems.map((each) => problem(...each)), warnings: [] }),
    issue: async () => ({ invoiceId: 'inv', isOwn: true, present: null }),
    statusesOf: async () => new Map(),
  };
  const of: IssuedRows['of'] = async (_owner, raws) =>
    new Map(
      raws.flatMap((raw) => {
        const ids = rows[raw];
        return ids
          ? [
              [
                raw,
                ids.map((invoiceId, place) => ({ raw, place, key: invoiceId.slice(4), invoiceId, sale: NO_MARKS })),
              ] as const,
            ]
          : [];
      }),
    );
  return {
    invoicing,
    issuedRows: {
      of,
      alike: async (): Promise<RowPlace[]> => [],
      claim: async () => [],
      release: async () => undefined,
    },
  };
}

let rowsSoFar = 1;
function read(input: Record<string, unknown>, changes: Partial<ReadInvoice> = {}): ReadInvoice {
  const row = ++rowsSoFar;
  const cell = { sheet: null, row, column: 3, header: 'Quantité', value: 'x' };
  return {
    nth: 0,
    sheet: null,
    firstRow: row,
    lastRow: row,
    label: null,
    input,
    problems: [],
    raw: `raw ${row}`,
    resultNumber: null,
    origins: { 'lines.0.quantity': cell, 'customer.ice': { ...cell, column: 1, header: 'ICE' } },
    ...changes,
  };
}

/** The verdicts of a file with these invoices. */
const checked = async (needs: ReturnType<typeof invoicingOf>, ...batches: ReadInvoice[][]) => {
  let nth = 0;
  const file = batches.map((batch) => batch.map((each) => ({ ...each, nth: nth++ })));
  const checker = createInvoiceChecker(needs, anImport(OWNER, 'a'), BY, await findIssued(needs, OWNER, file.flat()));
  const rows = [];
  for (const batch of file) rows.push(...(await checker.check(batch)));
  const changes = checker.end();
  return { rows, changes, counts: checker.counts() };
};

it('knows an invoice by its number, or by its content and which of equal ones it is, across batches', async () => {
  const same = { customer: { name: 'A' } };
  const { rows, changes, counts } = await checked(
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
  // Both may be parts of one invoice, so the first is not issued either.
  expect(changes).toMatchObject([{ nth: rows[0]?.nth, verdict: 'faulty', problems: [{ code: 'number_repeated' }] }]);
  expect(counts).toMatchObject({ invoices: 4, ready: 2, faulty: 2 });
});

it('distinguishes what was issued of the same content from a number that was issued otherwise', async () => {
  const input = { number: 'F-1', customer: 'A' };
  const issued = invoicingOf({ 'inv number F-1': JSON.stringify(input) });
  const [known] = (await checked(issued, [read(input)])).rows;
  expect(known).toMatchObject({ verdict: 'known', invoiceId: 'inv number F-1', problems: [] });
  const [other] = (await checked(issued, [read({ ...input, customer: 'B' })])).rows;
  expect(other).toMatchObject({ verdict: 'faulty', problems: [{ code: 'number_issued_otherwise' }] });
});

it('asks once for what all invoices of a file have become, also when it comes back with its numbers', async () => {
  const inputs = Array.from({ length: 40 }, (_, nth) => ({ customer: `${nth}` }));
  const ids = inputs.map((input) => `inv content ${JSON.stringify(input)} 1`);
  const issued = Object.fromEntries(ids.map((id, nth) => [id, JSON.stringify(inputs[nth])]));
  const needs = invoicingOf(issued, [], Object.fromEntries(ids.map((id, nth) => [`raw ${nth}`, [id]])));
  const issuedAs = vi.spyOn(needs.invoicing, 'issuedAs');
  const findByNumber = vi.spyOn(needs.invoicing, 'findByNumber');
  const batch = inputs.map((input, nth) =>
    read(input, { raw: `raw ${nth}`, resultNumber: nth % 2 === 0 ? null : `N ${ids[nth]}` }),
  );
  const { counts } = await checked(needs, batch);
  expect(counts.known).toBe(40);
  expect(issuedAs).toHaveBeenCalledOnce();
  expect(findByNumber).not.toHaveBeenCalled();
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

const FAULT = (row: number) => ({
  place: { sheet: null, row, column: 3 },
  header: 'Échéance',
  value: '31/13/2026',
  code: 'not_a_date',
  param: 'terms.dueDate',
  facts: {},
});

it('a row that is corrected or deleted changes the key of no other row', async () => {
  const same = { customer: { name: 'A' } };
  const first = read(same);
  const before = await checked(invoicingOf({}), [{ ...first, problems: [FAULT(first.firstRow)] }, read(same)]);
  const corrected = await checked(invoicingOf({}), [read({ ...same, dueDate: '2026-12-31' }), read(same)]);
  const deleted = await checked(invoicingOf({}), [read(same)]);
  const key = `content ${JSON.stringify(same)} 1`;
  expect([before.rows[1], corrected.rows[1], deleted.rows[0]].map((each) => each?.key)).toEqual([key, key, key]);
  expect(before.rows[0]?.verdict).toBe('faulty');
});

it('an equal sale of another row is known with a warning, and without one of the same row', async () => {
  const content = { customer: { name: 'A' } };
  const id = `inv content ${JSON.stringify(content)} 1`;
  const issued = { [id]: JSON.stringify(content) };
  const [other] = (await checked(invoicingOf(issued), [read(content, { raw: 'November' })])).rows;
  expect(other).toMatchObject({ verdict: 'known', invoiceId: id });
  expect(other?.warnings).toMatchObject([{ code: 'equal_sale', facts: { number: `N ${id}`, date: '2026-11-01' } }]);
  const rows = { October: [id] };
  const [same] = (await checked(invoicingOf(issued, [], rows), [read(content, { raw: 'October' })])).rows;
  expect(same).toMatchObject({ verdict: 'known', invoiceId: id, warnings: [] });
});

it('a row that was issued is not issued again when it is understood otherwise; more of them are', async () => {
  const rows = { October: ['inv 1', 'inv 2'] };
  const issued = { 'inv 1': 'other', 'inv 2': 'other' };
  const again = [1, 2, 3].map(() => read({ customer: { name: 'A' }, order: 'X' }, { raw: 'October' }));
  const { rows: found } = await checked(invoicingOf(issued, [], rows), again);
  expect(found.map(({ verdict }) => verdict)).toEqual(['faulty', 'faulty', 'ready']);
  expect(found[0]?.problems).toMatchObject([{ code: 'row_issued_otherwise', facts: { invoice: 'N inv 1' } }]);
  expect(found[1]?.invoiceId).toBe('inv 2');
});

it('a row that came back with its number is that invoice, unless somebody has changed it', async () => {
  const id = 'inv number 2026-1';
  const row = read({ customer: { name: 'A' } }, { resultNumber: '2026-1', raw: 'October' });
  const issued = { [id]: 'understood otherwise' };
  const [same] = (await checked(invoicingOf(issued, [], { October: [id] }), [row])).rows;
  expect(same).toMatchObject({ verdict: 'known', invoiceId: id, warnings: [] });
  const [changed] = (await checked(invoicingOf(issued), [row])).rows;
  expect(changed).toMatchObject({ verdict: 'faulty', problems: [{ code: 'number_issued_otherwise' }] });
  const [unknown] = (await checked(invoicingOf({}), [row])).rows;
  expect(unknown?.verdict).toBe('ready');
});

it('a number that came back and that no import has issued here is one of another company or environment', async () => {
  const needs = invoicingOf({});
  vi.spyOn(needs.invoicing, 'findByNumber').mockResolvedValue('inv of the API');
  const [other] = (await checked(needs, [read({ customer: { name: 'A' } }, { resultNumber: '2026-000014' })])).rows;
  expect(other).toMatchObject({ verdict: 'faulty', problems: [{ code: 'number_issued_otherwise' }] });
});

it('a sale whose invoice was rejected is issued anew, once; its own number is taken', async () => {
  const content = { customer: { name: 'A' } };
  const text = JSON.stringify(content);
  const [first, second] = [`content ${text} 1`, `content ${text} 1 again 1`];
  const row = read(content, { raw: 'October', resultNumber: null });
  const rejected = { [`inv ${first}`]: `rejected ${text}` };
  const [again] = (await checked(invoicingOf(rejected, [], { October: [`inv ${first}`] }), [row])).rows;
  expect(again).toMatchObject({ verdict: 'ready', key: second });
  const accepted = { ...rejected, [`inv ${second}`]: text };
  const raws = { October: [`inv ${first}`, `inv ${second}`] };
  const [known] = (await checked(invoicingOf(accepted, [], raws), [row])).rows;
  expect(known).toMatchObject({ verdict: 'known', invoiceId: `inv ${second}` });

  const numbered = { number: 'F-7' };
  const taken = { 'inv number F-7': `rejected ${JSON.stringify(numbered)}` };
  const [other] = (await checked(invoicingOf(taken), [read(numbered)])).rows;
  expect(other).toMatchObject({ verdict: 'faulty', problems: [{ code: 'duplicate_number' }] });
});

const SALE = { customer: { name: 'A' } };
const CONTENT = JSON.stringify(SALE);
const nthEqual = (nth: number) => `inv content ${CONTENT} ${nth}`;
const sale = (raw: string, changes: Partial<ReadInvoice> = {}) => read(SALE, { raw, ...changes });
const verdicts = (rows: readonly { verdict: string; invoiceId: string | null; key: string }[]) =>
  rows.map(({ verdict, invoiceId, key }) => [verdict, invoiceId ?? `inv ${key}`]);

it('a new sale above or below an equal one that was issued is another one, and keeps its invoice', async () => {
  const issued = { [nthEqual(1)]: CONTENT };
  const raws = { 'sale 1': [nthEqual(1)] };
  const above = await checked(invoicingOf(issued, [], raws), [sale('sale 2'), sale('sale 1')]);
  expect(verdicts(above.rows)).toEqual([
    ['ready', nthEqual(2)],
    ['known', nthEqual(1)],
  ]);
  const below = await checked(invoicingOf(issued, [], raws), [sale('sale 1')], [sale('sale 2')]);
  expect(verdicts(below.rows)).toEqual([
    ['known', nthEqual(1)],
    ['ready', nthEqual(2)],
  ]);
  const both = { ...issued, [nthEqual(2)]: CONTENT };
  const alone = await checked(invoicingOf(both, [], { ...raws, 'sale 2': [nthEqual(2)] }), [sale('sale 2')]);
  expect(verdicts(alone.rows)).toEqual([['known', nthEqual(2)]]);
  expect(alone.rows[0]?.warnings).toEqual([]);
});

it.each([
  ['with the same texts', 'sale', 'sale'],
  ['with other texts', 'sale 1', 'sale 2'],
])('of two equal sales %s the rejected one is issued anew, in any order of the rows', async (_which, first, second) => {
  const issued = { [nthEqual(1)]: `rejected ${CONTENT}`, [nthEqual(2)]: CONTENT };
  const raws =
    first === second ? { [first]: [nthEqual(1), nthEqual(2)] } : { [first]: [nthEqual(1)], [second]: [nthEqual(2)] };
  for (const order of [
    [first, second],
    [second, first],
  ]) {
    const { rows } = await checked(
      invoicingOf(issued, [], raws),
      order.map((raw) => sale(raw)),
    );
    expect(verdicts(rows).toSorted()).toEqual([
      ['known', nthEqual(2)],
      ['ready', `${nthEqual(1)} again 1`],
    ]);
    const anew = rows.find(({ verdict }) => verdict === 'ready');
    // It takes the place of the rejected one.
    expect([anew?.raw, anew?.rawPlace]).toEqual([first, 0]);
  }
});

it('a row that came back with its number is that one of the equal sales', async () => {
  const issued = { [nthEqual(1)]: CONTENT, [nthEqual(2)]: CONTENT };
  const raws = { sale: [nthEqual(1), nthEqual(2)] };
  const second = sale('sale', { resultNumber: `N ${nthEqual(2)}` });
  const { rows } = await checked(invoicingOf(issued, [], raws), [second, sale('sale'), sale('sale')]);
  expect(verdicts(rows)).toEqual([
    ['known', nthEqual(2)],
    ['known', nthEqual(1)],
    ['ready', nthEqual(3)],
  ]);
  // Somebody has edited it: no other row takes its invoice for that.
  const needs = invoicingOf(issued, [], raws);
  vi.spyOn(needs.invoicing, 'findByNumber').mockResolvedValue(nthEqual(1));
  const edited = sale('edited', { resultNumber: `N ${nthEqual(1)}` });
  const { rows: found } = await checked(needs, [sale('new'), edited]);
  expect(verdicts(found)).toEqual([
    ['known', nthEqual(2)],
    ['known', nthEqual(1)],
  ]);
});

it('a row whose invoice was begun and not stored is issued in its place, under another key by nobody', async () => {
  const raws = { sale: [nthEqual(1)] };
  const { rows } = await checked(invoicingOf({}, [], raws), [sale('sale')]);
  expect(rows).toMatchObject([{ verdict: 'ready', key: `content ${CONTENT} 1`, rawPlace: 0 }]);
  const { rows: otherwise } = await checked(invoicingOf({}, [], { sale: ['inv other'] }), [sale('sale')]);
  expect(otherwise).toMatchObject([{ verdict: 'faulty', problems: [{ code: 'row_issued_otherwise' }] }]);
});

it('the place of a further row is one that was never taken', async () => {
  const needs = invoicingOf({ [nthEqual(2)]: CONTENT }, [], { sale: [nthEqual(2)] });
  const holder = { raw: 'sale', place: 1, key: '', invoiceId: nthEqual(2), sale: NO_MARKS };
  needs.issuedRows.of = async () => new Map([['sale', [holder]]]);
  const { rows } = await checked(needs, [sale('sale'), sale('sale'), sale('sale')]);
  expect(rows.map(({ verdict, rawPlace }) => [verdict, rawPlace])).toEqual([
    ['known', 1],
    ['ready', 2],
    ['ready', 3],
  ]);
});

/** A file of rows by their texts, and which of the issued invoices are rejected after it. */
const anUpload = fc.record({
  file: fc.array(fc.constantFrom('a 1', 'a 2', 'b 1', 'b 2'), { minLength: 1, maxLength: 6 }),
  rejects: fc.array(fc.nat(15), { maxLength: 3 }),
});

it('of any files, with rejections between them, each row has its own invoice, and is issued once', () =>
  fc.assert(
    fc.asyncProperty(fc.array(anUpload, { maxLength: 5 }), async (uploads) => {
      const issued: Record<string, string> = {};
      const places: RowPlace[] = [];
      const isRejected = (id: string) => issued[id]?.startsWith('rejected ') === true;
      for (const { file, rejects } of uploads) {
        const ofRaw = Map.groupBy(
          places.toSorted((a, b) => a.place - b.place),
          ({ raw }) => raw,
        );
        const ids = [...ofRaw].map(([raw, all]) => [raw, all.map(({ invoiceId }) => invoiceId)]);
        const needs = invoicingOf(issued, [], Object.fromEntries(ids));
        needs.issuedRows.of = async () => ofRaw;
        const standing = places.filter(({ invoiceId }) => !isRejected(invoiceId));
        const { rows } = await checked(
          needs,
          file.map((raw) => read({ customer: raw.slice(0, 1) }, { raw })),
        );
        const idOf = ({ verdict, key, invoiceId }: ImportedInvoice) =>
          verdict === 'known' ? String(invoiceId) : `inv ${key}`;
        expect(new Set(rows.map(idOf)).size).toBe(rows.length);
        for (const raw of new Set(file)) {
          const ofTexts = rows.filter((row) => row.raw === raw).map(idOf);
          const before = standing.filter((each) => each.raw === raw).toSorted((a, b) => a.place - b.place);
          expect(ofTexts).toEqual(
            expect.arrayContaining(before.slice(0, ofTexts.length).map(({ invoiceId }) => invoiceId)),
          );
        }
        for (const row of rows) {
          const id = idOf(row);
          if (row.verdict !== 'ready') {
            expect([row.verdict, id in issued, isRejected(id)]).toEqual(['known', true, false]);
            continue;
          }
          expect(id in issued).toBe(false);
          const at = places.findIndex(({ raw, place }) => raw === row.raw && place === row.rawPlace);
          if (at >= 0) expect(isRejected(places.splice(at, 1)[0]?.invoiceId ?? '')).toBe(true);
          issued[id] = row.digest;
          places.push({ raw: row.raw, place: row.rawPlace, key: row.key, invoiceId: id, sale: NO_MARKS });
        }
        for (const nth of rejects) {
          const id = places[nth]?.invoiceId;
          if (id !== undefined && !isRejected(id)) issued[id] = `rejected ${issued[id]}`;
        }
      }
    }),
  ));

it('warns of what is ready and may be issued already, whose rows were read or written otherwise', async () => {
  const input = (changes: object = {}) => ({
    customer: { name: 'Café  Rif' },
    lines: [{ description: 'Thé', quantity: 2, unitPrice: 500 }],
    ...changes,
  });
  const earlier: RowPlace = {
    raw: 'other',
    place: 0,
    key: 'k',
    invoiceId: 'inv 1',
    sale: saleMarksOf(input({ terms: { operationDate: '2026-11-02' } })),
  };
  const warned = async (changes: object, issued: Record<string, string> = { 'inv 1': 'D' }, raw = 'new') => {
    const needs = invoicingOf(issued, [], { other: ['inv 1'] });
    needs.issuedRows.alike = async () => [earlier];
    const { rows } = await checked(needs, [
      read(input(changes), { raw }),
      ...(raw === 'new' ? [] : [read({}, { raw: 'other' })]),
    ]);
    return rows[0]?.warnings.map(({ code, facts }) => [code, facts?.number]);
  };
  const similar = [['similar_sale', 'N inv 1']];
  expect(await warned({})).toEqual(similar);
  expect(await warned({ customer: { name: 'CAFÉ  RIF', email: 'a@b.ma' } })).toEqual(similar);
  expect(await warned({ terms: { operationDate: '2026-11-02', dueDate: '2026-12-02' } })).toEqual(similar);
  expect(await warned({ terms: { operationDate: '2026-11-03' } })).toEqual([]);
  expect(await warned({ lines: [{ description: 'Thé', quantity: 3, unitPrice: 500 }] })).toEqual([]);
  expect(await warned({}, { 'inv 1': 'rejected D' })).toEqual([]);
  // Its own row is in the file.
  expect(await warned({}, { 'inv 1': '{}' }, 'further')).toEqual([]);
});

it('a row that was issued is never ready again because of what is wrong with it now', async () => {
  const issued = { [nthEqual(1)]: CONTENT };
  const row = sale('sale 1', { problems: [FAULT(2)] });
  const { rows } = await checked(invoicingOf(issued, [], { 'sale 1': [nthEqual(1)] }), [row]);
  expect(rows[0]?.verdict).not.toBe('ready');
  const { rows: other } = await checked(invoicingOf({ a: 'E' }, [], { 'sale 1': ['a'] }), [row]);
  expect(other[0]?.problems).toMatchObject([{ code: 'row_issued_otherwise' }]);
});

it('10,000 equal rows that were issued, half of which came back with their numbers, take little time', async () => {
  const count = 10_000;
  const all = Array.from({ length: count }, (_, nth) => nthEqual(nth + 1));
  const needs = invoicingOf(Object.fromEntries(all.map((id) => [id, CONTENT])));
  const places = all.map((invoiceId, place) => ({ raw: 'sale', place, key: '', invoiceId, sale: NO_MARKS }));
  needs.issuedRows.of = async () => new Map([['sale', places]]);
  const asIssued = { digest: CONTENT, raw: 'sale', date: '2026-11-01', isRejected: false };
  needs.invoicing.issuedAs = async (ids) => new Map(ids.map((id) => [id, { ...asIssued, number: `N ${id}` }]));
  const file = all.map((id, nth) => ({ raw: 'sale', resultNumber: nth % 2 === 0 ? `N ${id}` : null }));
  const before = process.threadCpuUsage();
  const found = await findIssued(needs, OWNER, file.toReversed());
  const { user, system } = process.threadCpuUsage(before);
  expect(new Set(file.map((_, nth) => found.of(nth).own?.invoiceId)).size).toBe(count);
  expect(found.of(count - 1).own?.invoiceId).toBe(nthEqual(1));
  // It took 10 s where each row looked through all of them.
  expect((user + system) / 1000).toBeLessThan(3000);
});
