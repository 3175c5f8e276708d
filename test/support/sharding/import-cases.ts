import { newId } from '../../../src/domain/ids.ts';
import type { Import } from '../../../src/domain/imports/import.ts';
import type { ImportClaim } from '../../../src/domain/imports/import-store.ts';
import type { Store } from '../../../src/storage/connect.ts';
import { createImportFiles } from '../../../src/storage/import-files.ts';
import { createImportMappings } from '../../../src/storage/import-mappings.ts';
import { createImportedInvoiceStore } from '../../../src/storage/imported-invoices.ts';
import { createImportStore } from '../../../src/storage/imports.ts';
import { createIssuedRows } from '../../../src/storage/issued-rows.ts';
import { anImport, anImportedInvoice } from '../imports.ts';
import { drained, LEASE_MS, OWNER, type Subject, subject } from './cases.ts';

const BY_PERSON = 'a tenant has few imports, and a person asks';

export function importCases({ db }: Store): Record<string, Subject> {
  const imports = createImportStore(db);
  const invoices = createImportedInvoiceStore(db);
  const files = createImportFiles(db);
  const mappings = createImportMappings(db);
  const rows = createIssuedRows(db);
  const later = new Date(Date.now() + 3_600_000);
  const stored = (changes: Partial<Import> = {}) => imports.insert(anImport(OWNER, 'a', changes));
  const claimed = async (): Promise<ImportClaim> => ({ imported: await stored(), token: 'none' });
  const scatters = (statement: string) => [`${statement}`];
  const list = { ...OWNER, limit: 5, cursor: null, from: null, until: null };
  const imported = { id: newId('imp'), round: 1 };
  const asked = { imported, only: [], after: null, before: null, limit: 5 } as const;
  const put = () => invoices.put([anImportedInvoice(OWNER, imported.id, null, 'a')], later);
  return {
    createImportStore: subject(imports, {
      insert: () => stored(),
      find: async () => imports.find((await stored()).id),
      findMany: async () => imports.findMany([(await stored()).id]),
      sizes: {
        call: () => imports.sizes(OWNER, 9),
        scatters: scatters('find imports by environment, tenantId'),
        because: BY_PERSON,
      },
      page: {
        call: () => imports.page(list),
        scatters: scatters('find imports by environment, tenantId'),
        because: BY_PERSON,
      },
      change: async () => imports.change(await stored(), ['checked'], { status: 'issuing' }, new Date()),
      remove: async () => imports.remove((await stored()).id, ['checked']),
      claim: {
        call: async () => {
          await stored();
          await imports.claim(new Date(Date.now() + 1000), LEASE_MS, ['ten_other'], 4);
        },
        scatters: scatters('find imports by tenantId, work.dueAt'),
        because: 'once a second in each worker, by an index of what is due',
      },
      renew: async () => imports.renew(await claimed(), new Date(), LEASE_MS),
      save: async () => imports.save(await claimed(), { isSettled: true }),
      release: async () => imports.release(await claimed(), {}, null),
      releaseAll: {
        call: () => imports.releaseAll(new Date()),
        scatters: scatters('updateMany imports by work.dueAt'),
        because: 'once, at the start of a process that is alone',
      },
    }),
    createImportedInvoiceStore: subject(invoices, {
      put,
      removeUpTo: async () => invoices.removeUpTo(imported.id, 1),
      page: async () => {
        await put();
        await invoices.page(asked);
        await invoices.page({ ...asked, before: 5 });
      },
      awaiting: {
        call: () => invoices.awaiting(imported, -1, 5),
        scatters: scatters('find import_invoices by awaits, importId, nth, round'),
        because: 'once a second at most for each import that was issued',
      },
      change: () => invoices.change(imported, [{ nth: 0, verdict: 'issued' }]),
      raws: async () => {
        await put();
        await invoices.raws(imported);
      },
      counts: {
        call: () => invoices.counts(imported),
        scatters: [
          'count import_invoices by importId, outcome, round',
          'count import_invoices by importId, round, verdict',
        ],
        because: 'when a worker takes up an import, and with each look at its undecided invoices',
      },
    }),
    createImportFiles: subject(files, {
      put: () => files.put(OWNER, newId('imp'), 0, Buffer.from('a'), later),
      read: () => drained(files.read(imported.id)),
      remove: () => files.remove(imported.id),
    }),
    createIssuedRows: subject(rows, {
      of: {
        call: () => rows.of(OWNER, ['a']),
        scatters: scatters('find import_rows by environment, raw, tenantId'),
        because: 'once for each batch of a file that is read',
      },
      alike: {
        call: () => rows.alike(OWNER, ['a']),
        scatters: scatters('find import_rows by environment, sale.lines, tenantId'),
        because: 'once for each batch of a file that is read',
      },
      claim: () =>
        rows.claim(OWNER, [
          { raw: 'a', place: 0, key: 'a', invoiceId: newId('inv'), sale: { lines: ['a'], facts: {} } },
        ]),
      release: () =>
        rows.release(OWNER, [
          { raw: 'a', place: 0, key: 'a', invoiceId: newId('inv'), sale: { lines: ['a'], facts: {} } },
        ]),
    }),
    createImportMappings: subject(mappings, {
      find: () => mappings.find(OWNER, ['a']),
      keep: () => mappings.keep(OWNER, ['a'], { a: null }),
    }),
  };
}
