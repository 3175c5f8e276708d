import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { ImportedInvoiceStore, ImportStore } from '../../src/domain/imports/import-store.ts';
import type { Store } from '../../src/storage/connect.ts';
import { createImportFiles } from '../../src/storage/import-files.ts';
import { createImportMappings } from '../../src/storage/import-mappings.ts';
import { createImportedInvoiceStore } from '../../src/storage/imported-invoices.ts';
import { createImportStore } from '../../src/storage/imports.ts';
import { createIssuedRows } from '../../src/storage/issued-rows.ts';
import { anImport, anImportedInvoice } from '../support/imports.ts';
import { openTestStore } from '../support/store.ts';

const LEASE_MS = 15_000;
const owner = (n = 1) => ({ tenantId: `ten_${n}`, environment: 'test' }) as const;
let store: Store;
let imports: ImportStore;
let invoices: ImportedInvoiceStore;

beforeAll(async () => {
  store = await openTestStore('imports');
  imports = createImportStore(store.db);
  invoices = createImportedInvoiceStore(store.db);
});
beforeEach(async () => {
  for (const name of ['imports', 'import_invoices']) await store.db.collection(name).deleteMany({});
});
afterAll(() => store.close());

const inMs = (ms: number) => new Date(Date.now() + ms);

it('gives work to one worker at a time, one import of a tenant, those that are due longest first', async () => {
  const stored = [];
  for (const n of [1, 1, 1, 2, 3]) stored.push(await imports.insert(anImport(owner(n), 'a', { status: 'reading' })));
  const now = inMs(1000);
  const claims = await imports.claim(now, LEASE_MS, ['ten_3'], 4);
  expect(claims.map(({ imported }) => imported.id).sort()).toEqual([stored[0]?.id, stored[3]?.id].sort());
  expect(await imports.claim(now, LEASE_MS, ['ten_1', 'ten_3'], 4)).toEqual([]);

  const [claim] = claims.filter(({ imported }) => imported.tenantId === 'ten_1');
  if (!claim) throw new Error('nothing was claimed');
  expect(await imports.renew(claim, now, LEASE_MS)).toBe(true);
  expect(await imports.save(claim, { counts: { ...claim.imported.counts, ready: 3 } })).toBe(true);
  // After the lease another worker goes on, and the first one has lost it.
  const [next] = await imports.claim(inMs(60_000), LEASE_MS, ['ten_2', 'ten_3'], 1);
  const [, again] = [next, (await imports.claim(inMs(60_000), LEASE_MS, ['ten_2', 'ten_3'], 1))[0]];
  const taken = [next, again].map((each) => each?.imported.id);
  expect(taken).toEqual([stored[1]?.id, stored[2]?.id]);
  const [last] = await imports.claim(inMs(90_000), LEASE_MS, ['ten_2', 'ten_3'], 1);
  expect(last?.imported).toMatchObject({ id: claim.imported.id, counts: { ready: 3 } });
  expect(await imports.save(claim, { status: 'checked' })).toBe(false);
  if (last) await imports.release(last, { status: 'checked' }, null);
  expect(await imports.find(claim.imported.id)).toMatchObject({ status: 'checked' });
});

it('a change takes the work from its worker, and happens once', async () => {
  const { id } = await imports.insert(anImport(owner(), 'a', { status: 'reading', mapping: { 'a.b': null, $c: 'x' } }));
  const [claim] = await imports.claim(inMs(1000), LEASE_MS, [], 1);
  if (!claim) throw new Error('nothing was claimed');
  expect(claim.imported.mapping).toEqual({ 'a.b': null, $c: 'x' });
  const changed = await imports.change({ id, round: 1 }, ['reading'], { round: 2, mapping: { d: 'y' } }, new Date());
  expect(changed).toMatchObject({ round: 2, mapping: { d: 'y' } });
  expect(await imports.change({ id, round: 1 }, ['reading'], { round: 2 }, new Date())).toBeNull();
  expect(await imports.save(claim, { status: 'checked' })).toBe(false);
  expect(await imports.remove(id, ['checked'])).toBe(false);
  expect(await imports.remove(id, ['reading'])).toBe(true);
  expect(await imports.find(id)).toBeNull();
});

it('pages the invoices of a round in the order of the file, of all verdicts or some, in both directions', async () => {
  const verdicts = ['ready', 'faulty', 'issued'] as const;
  const all = Array.from({ length: 12 }, (_, nth) =>
    anImportedInvoice(owner(), 'imp_1', null, 'a', { nth, verdict: verdicts[nth % 3] ?? 'ready' }),
  );
  const other = [anImportedInvoice(owner(), 'imp_1', null, 'a', { nth: 0, round: 2 })];
  await invoices.put([...all, ...other], inMs(60_000));
  const imported = { id: 'imp_1', round: 1 };
  const places = async (changes: object) => {
    const asked = { imported, only: [], after: null, before: null, limit: 3, ...changes };
    const { rows, hasMore } = await invoices.page(asked);
    return [rows.map(({ nth }) => nth), hasMore];
  };
  expect(await places({})).toEqual([[0, 1, 2], true]);
  expect(await places({ after: 9 })).toEqual([[10, 11], false]);
  expect(await places({ before: 5 })).toEqual([[2, 3, 4], true]);
  expect(await places({ only: ['faulty'] })).toEqual([[1, 4, 7], true]);
  expect(await places({ only: ['issued', 'ready'], after: 3 })).toEqual([[5, 6, 8], true]);
  expect(await places({ only: ['issued', 'ready'], before: 3 })).toEqual([[0, 2], false]);

  await invoices.change(imported, [
    { nth: 2, awaits: true },
    { nth: 5, awaits: true },
    { nth: 0, verdict: 'issued', invoiceId: 'inv_1', awaits: true },
  ]);
  expect((await invoices.awaiting(imported, 0, 5)).map(({ nth }) => nth)).toEqual([2, 5]);
  await invoices.change(imported, [{ nth: 2, awaits: false, outcome: 'accepted' }]);
  expect((await invoices.awaiting(imported, -1, 5)).map(({ nth }) => nth)).toEqual([0, 5]);
  expect(await invoices.counts(imported)).toEqual({
    invoices: 12,
    ready: 3,
    faulty: 4,
    known: 0,
    issued: 5,
    refused: 0,
    accepted: 1,
    rejected: 0,
  });
  await invoices.removeUpTo('imp_1', 1);
  expect(await places({})).toEqual([[], false]);
  expect(await invoices.counts({ id: 'imp_1', round: 2 })).toMatchObject({ invoices: 1 });
});

it('keeps a file in pieces, and columns by the set of headers', async () => {
  const files = createImportFiles(store.db);
  for (const nth of [1, 0]) await files.put(owner(), 'imp_1', nth, Buffer.from([nth]), inMs(60_000));
  await files.put(owner(), 'imp_10', 0, Buffer.from([9]), inMs(60_000));
  expect(await Array.fromAsync(files.read('imp_1'), ([byte]) => byte)).toEqual([0, 1]);
  await files.remove('imp_1');
  expect(await Array.fromAsync(files.read('imp_1'))).toEqual([]);
  expect(await Array.fromAsync(files.read('imp_10'))).toHaveLength(1);

  const mappings = createImportMappings(store.db);
  await mappings.keep(owner(), ['b', 'a'], { a: 'customer.name', b: null });
  expect(await mappings.find(owner(), ['a', 'b'])).toEqual({ a: 'customer.name', b: null });
  expect(await mappings.find(owner(2), ['a', 'b'])).toBeNull();
  expect(await mappings.find(owner(), ['a'])).toBeNull();
});

it('gives the place of a row to one invoice, however many ask for it at once, until it is freed', async () => {
  const rows = createIssuedRows(store.db);
  const row = (place: number, invoiceId: string) => ({
    raw: 'a',
    place,
    key: `of ${invoiceId}`,
    invoiceId,
    sale: { lines: [`line of ${invoiceId}`, 'line of all'], facts: {} },
  });
  const asked = Array.from({ length: 8 }, (_, n) => rows.claim(owner(), [row(0, `inv_${n}`), row(1, `inv_1${n}`)]));
  const answers = await Promise.all(asked);
  const held = async () => (await rows.of(owner(), ['a', 'a', 'c'])).get('a') ?? [];
  const [first, second] = (await held()).map(({ invoiceId }) => invoiceId);
  expect(await held()).toEqual([row(0, first ?? ''), row(1, second ?? '')]);
  for (const [n, answer] of answers.entries())
    expect(answer).toEqual([
      first === `inv_${n}` ? null : row(0, first ?? ''),
      second === `inv_1${n}` ? null : row(1, second ?? ''),
    ]);
  expect(await rows.alike(owner(), [`line of ${second}`, 'line of nobody'])).toEqual([row(1, second ?? '')]);
  expect(await rows.alike(owner(2), ['line of all'])).toEqual([]);
  // Again by its holder, after its process has died.
  expect(await rows.claim(owner(), [row(0, first ?? '')])).toEqual([null]);
  expect(await rows.of(owner(2), ['a'])).toEqual(new Map());

  await rows.release(owner(), [row(0, 'inv_other')]);
  expect(await held()).toHaveLength(2);
  await rows.release(owner(), [row(0, first ?? '')]);
  expect(await held()).toEqual([row(1, second ?? '')]);
});
