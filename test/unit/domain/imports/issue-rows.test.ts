import { expect, it } from 'vitest';
import { serviceError } from '../../../../src/domain/errors.ts';
import type { ImportedInvoice } from '../../../../src/domain/imports/import.ts';
import type { IssuedRows, RowPlace } from '../../../../src/domain/imports/import-store.ts';
import type { ImportInvoicing, IssuedAs } from '../../../../src/domain/imports/invoicing.ts';
import { issueRows } from '../../../../src/domain/imports/issue-rows.ts';
import type { Member } from '../../../../src/domain/principal.ts';
import { anImport, anImportedInvoice } from '../../../support/imports.ts';

const OWNER = { tenantId: 'ten_1', environment: 'test' } as const;
const NO_MARKS = { lines: [], facts: {} };
const BY = { kind: 'secret', keyId: 'key_1' } as Member;

/** The invoices and rows that are issued, and imports that issue further ones. */
function world() {
  const invoices = new Map<string, IssuedAs & { readonly importId: string }>();
  const places = new Map<string, RowPlace>();
  const idOf = ({ raw, place }: Pick<RowPlace, 'raw' | 'place'>) => `${raw} ${place}`;
  const issuedRows: Pick<IssuedRows, 'claim' | 'release'> = {
    async claim(_owner, rows) {
      return rows.map((row) => {
        const holder = places.get(idOf(row));
        if (!holder) places.set(idOf(row), row);
        return holder && holder.invoiceId !== row.invoiceId ? holder : null;
      });
    },
    async release(_owner, rows) {
      for (const row of rows) if (places.get(idOf(row))?.invoiceId === row.invoiceId) places.delete(idOf(row));
    },
  };
  const faults = { refuse: new Set<string>() };
  const invoicing = {
    idOf: (_owner: unknown, key: string) => `inv ${key}`,
    issuedAs: async (ids: readonly string[]) =>
      new Map(ids.flatMap((id) => (invoices.has(id) ? [[id, invoices.get(id) as IssuedAs] as const] : []))),
    async issue(_by: unknown, { importId, key, digest, raw }: Parameters<ImportInvoicing['issue']>[1]) {
      if (faults.refuse.has(raw)) throw serviceError('invalid_ice', 'wrong', 'customer.ice');
      const invoiceId = `inv ${key}`;
      const present = invoices.get(invoiceId) ?? null;
      if (present) return { invoiceId, isOwn: present.importId === importId && present.raw === raw, present };
      invoices.set(invoiceId, { importId, digest, raw, number: null, date: '2026-11-30', isRejected: false });
      return { invoiceId, isOwn: true, present: null };
    },
  } as unknown as ImportInvoicing;
  /** The rows of a checked file, by their texts, all with the content `D` unless they have a number. */
  const file = (importId: string, raws: readonly string[], number: string | null = null) => {
    const rows = raws.map((raw, nth) => {
      const key = number === null ? `content D ${nth + 1}` : `number ${number}`;
      const place = raws.slice(0, nth).filter((other) => other === raw).length;
      return anImportedInvoice(OWNER, importId, null, 'a', { nth, key, digest: 'D', raw, rawPlace: place, number });
    });
    const of = {
      imported: { ...anImport(OWNER, 'a'), id: importId },
      by: BY,
      isOfFile: async (raw: string) => raws.includes(raw),
    };
    return {
      rows,
      start: (some: readonly ImportedInvoice[] = rows) => issueRows({ invoicing, issuedRows } as never, of, some),
    };
  };
  return { invoices, places, faults, issuedRows, file };
}

const verdicts = (results: readonly PromiseSettledResult<{ verdict?: string; invoiceId?: string | null }>[]) =>
  results.map((each) => (each.status === 'fulfilled' ? [each.value.verdict, each.value.invoiceId] : ['failed']));

it('a file that was checked before another one was started issues what is new in it, under another key', async () => {
  const it = world();
  const [first, second] = [it.file('x', ['r1']), it.file('y', ['r2', 'r1'])];
  expect(verdicts(await first.start())).toEqual([['issued', 'inv content D 1']]);
  expect(verdicts(await second.start())).toEqual([
    ['issued', 'inv content D 2'],
    ['known', 'inv content D 1'],
  ]);
  expect([...it.places.values()].map(({ raw, invoiceId }) => [raw, invoiceId])).toEqual([
    ['r1', 'inv content D 1'],
    ['r2', 'inv content D 2'],
  ]);
  // Again, as after a death of its process before anything was noted: what it has issued is its own.
  expect(verdicts(await second.start())).toEqual([
    ['issued', 'inv content D 2'],
    ['known', 'inv content D 1'],
  ]);
});

it('an equal sale of a file without the row of the other one is known with a warning, and keeps no place', async () => {
  const it = world();
  const [first, second] = [it.file('x', ['r3']), it.file('y', ['r4'])];
  await first.start();
  const [result] = await second.start();
  expect(result).toMatchObject({
    value: { verdict: 'known', invoiceId: 'inv content D 1', warnings: [{ code: 'equal_sale' }] },
  });
  expect([...it.places.values()].map(({ raw }) => raw)).toEqual(['r3']);
});

it('two files of the same rows that are started at the same time issue each row once', async () => {
  const it = world();
  const files = ['x', 'y', 'z'].map((id) => it.file(id, ['r1', 'r2', 'r1']));
  const all = (await Promise.all(files.map(({ start }) => start()))).flatMap(verdicts);
  expect(it.invoices.size).toBe(3);
  expect(all.filter(([verdict]) => verdict === 'issued')).toHaveLength(3);
  expect(all.filter(([verdict]) => verdict === 'known')).toHaveLength(6);
});

it('a row that a worker began under another key is issued under that key, whichever import does it', async () => {
  const it = world();
  const other = { raw: 'r1', place: 0, key: 'content other 1', invoiceId: 'inv content other 1', sale: NO_MARKS };
  await it.issuedRows.claim(OWNER, [other]);
  expect(verdicts(await it.file('x', ['r1']).start())).toEqual([['issued', other.invoiceId]]);
});

it('the place of a rejected invoice, or of one of other rows, is taken over', async () => {
  const it = world();
  const [first] = (await it.file('x', ['r1']).start()).map(() => 'inv content D 1');
  const issued = it.invoices.get(String(first));
  if (issued) it.invoices.set(String(first), { ...issued, isRejected: true });
  const again = it.file('y', ['r1']);
  const rows = again.rows.map((row) => ({ ...row, key: `${row.key} again 1` }));
  expect(verdicts(await again.start(rows))).toEqual([['issued', 'inv content D 1 again 1']]);
  expect([...it.places.values()].map(({ invoiceId }) => invoiceId)).toEqual(['inv content D 1 again 1']);

  // Its worker died before it gave the place back.
  await it.issuedRows.claim(OWNER, [
    { raw: 'r9', place: 0, key: '', invoiceId: 'inv content D 1 again 1', sale: NO_MARKS },
  ]);
  const other = it.file('z', ['r9']);
  const keyed = other.rows.map((row) => ({ ...row, key: 'content E 1', digest: 'E' }));
  expect(verdicts(await other.start(keyed))).toEqual([['issued', 'inv content E 1']]);
});

it('a number that another file has issued meanwhile with another content is refused, with the same it is known', async () => {
  const it = world();
  await it.file('x', ['r1'], 'F-1').start();
  const other = it.file('y', ['r2'], 'F-1');
  expect(verdicts(await other.start())).toEqual([['known', 'inv number F-1']]);
  const changed = other.rows.map((row) => ({ ...row, digest: 'E' }));
  expect(await other.start(changed)).toMatchObject([
    { value: { verdict: 'refused', problems: [{ code: 'number_issued_otherwise', place: { row: 2 } }] } },
  ]);
  expect([...it.places.values()].map(({ raw }) => raw)).toEqual(['r1']);
});

it('a refused row gives its place back', async () => {
  const it = world();
  it.faults.refuse.add('r2');
  expect(verdicts(await it.file('x', ['r1', 'r2']).start())).toEqual([
    ['issued', 'inv content D 1'],
    ['refused', undefined],
  ]);
  expect([...it.places.values()].map(({ raw }) => raw)).toEqual(['r1']);
});

it('a row that is refused leaves its place to the invoice of the same key that another import has stored', async () => {
  const it = world();
  await it.file('x', ['r1'], 'F-1').start();
  it.faults.refuse.add('r1');
  expect(verdicts(await it.file('y', ['r1'], 'F-1').start())).toEqual([['refused', undefined]]);
  expect(it.places.size).toBe(1);
});
