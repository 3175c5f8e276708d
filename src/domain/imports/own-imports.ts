import type { DocumentLanguage } from '../document-language.ts';
import { DAY_MS } from '../durations.ts';
import { serviceError } from '../errors.ts';
import { later } from '../later.ts';
import { MAX_IMPORT_MIB, MAX_IMPORTS } from '../limits.ts';
import { newCreationMoment } from '../order-key.ts';
import { type Page, type PageSpan, placeInList } from '../page.ts';
import { actorOf } from '../principal.ts';
import type { Owner } from '../tenant/tenant.ts';
import type { Call, Change, UseCase } from '../use-case.ts';
import { columnOf } from './columns.ts';
import { findOwn, ownerOf, ownImport } from './find-import.ts';
import { type Import, type ImportedInvoice, NO_COUNTS, type Verdict } from './import.ts';
import type { ImportedInvoiceStore, ImportFiles, ImportMappings, ImportStore } from './import-store.ts';
import { IMPORT_DAYS } from './limits.ts';
import { headersOf } from './read-import.ts';
import { type ColumnMapping, type FileReading, PRIVATE_CUSTOMERS } from './reading.ts';
import { watchImport } from './watch-import.ts';

interface ImportNeeds {
  readonly imports: ImportStore;
}

interface ChangeNeeds extends ImportNeeds {
  readonly importedInvoices: ImportedInvoiceStore;
  readonly importFiles: ImportFiles;
  readonly mappings: ImportMappings;
  /** Notifies the worker of this process, if there is one, of new work. */
  readonly wakeImports: () => void;
}

/** An upload whose bytes are stored. */
export interface Upload {
  /** `imp_…`: the id of the import that is made from it. */
  readonly id: string;
  readonly file: Import['file'];
  readonly language: DocumentLanguage;
}

/** A page of the invoices of a file. The cursor is an id of the list. */
export interface ImportedSpan extends PageSpan {
  readonly only: readonly Verdict[];
  readonly maxBytes: number;
}

/**
 * The imports of the caller's tenant and environment.
 * @throws {ServiceError} resource_not_found for an import that is unknown or belongs to another tenant or environment
 */
export const IMPORT_USE_CASES = {
  /**
   * Makes an import of an uploaded file. It is read and checked next; nothing is issued.
   * @throws {ServiceError} import_limit_reached
   */
  uploadImport: {
    scope: 'draft',
    audit: { action: 'import.uploaded', description: 'A file of invoices was uploaded.' },
    async run(needs: ChangeNeeds, { by, record }: Change, { id, file, language }: Upload): Promise<Import> {
      const { imports, wakeImports } = needs;
      const owner = ownerOf(by);
      const sizes = await imports.sizes(owner, MAX_IMPORTS);
      const bytes = sizes.reduce((sum, size) => sum + size, file.size);
      if (sizes.length === MAX_IMPORTS || bytes > MAX_IMPORT_MIB * 1024 * 1024) throw limitReached(owner, sizes.length);
      const moment = newCreationMoment();
      const imported = await imports.insert({
        id,
        ...owner,
        ...moment,
        createdBy: actorOf(by),
        file,
        language,
        mapping: null,
        status: 'reading',
        round: 1,
        reading: null,
        failure: null,
        counts: NO_COUNTS,
        startedAt: null,
        startedBy: null,
        isSettled: false,
        expiresAt: expiryOf(moment.createdAt),
      });
      wakeImports();
      await record({ subject: id });
      return imported;
    },
  },

  import: { scope: 'read', run: ({ imports }: ImportNeeds, { by }: Call, id: string) => ownImport(imports, by, id) },

  /** Newest first. @throws {ServiceError} invalid_request for an invalid page request */
  imports: {
    scope: 'read',
    async run(
      { imports }: ImportNeeds,
      { by }: Call,
      { maxBytes, ...span }: PageSpan & { readonly maxBytes: number },
    ): Promise<Page<Import>> {
      const owner = ownerOf(by);
      const place = await placeInList(span, (id) => findOwn(imports, owner, id));
      return imports.page({ ...owner, ...place, from: null, until: null, maxBytes });
    },
  },

  /** The invoices of an import of the caller, in the order of the file. @throws {ServiceError} invalid_request */
  importedInvoices: {
    scope: 'read',
    async run(
      { importedInvoices }: Pick<ChangeNeeds, 'importedInvoices'>,
      _call: Call,
      imported: Import,
      { only, maxBytes, ...span }: ImportedSpan,
    ): Promise<Page<ImportedInvoice>> {
      const find = async (id: string) => {
        const nth = nthOf(imported, id);
        return nth === null ? null : { order: String(nth) };
      };
      const { limit, cursor } = await placeInList(span, find);
      const nth = cursor && Number(cursor.order);
      const [after, before] = cursor?.direction === 'before' ? [null, nth] : [nth, null];
      const page = await importedInvoices.page({ imported, only, after, before, limit, maxBytes });
      // The row of the cursor itself is another row.
      return { ...page, hasOthers: async () => cursor !== null };
    },
  },

  /**
   * Issues the ready invoices of a file. A repeated request changes nothing.
   * @param round the reading whose verdicts the caller has seen; null: the present one
   * @throws {ServiceError} import_not_checked while the file is being read, if it cannot be read, or if it was read
   *   again since
   */
  startImport: {
    scope: 'issue',
    audit: { action: 'import.started', description: 'The invoices of an uploaded file were issued.' },
    async run(needs: ChangeNeeds, { by, record }: Change, id: string, round: number | null): Promise<Import> {
      const { imports, wakeImports } = needs;
      for (;;) {
        const present = await ownImport(imports, by, id);
        if (present.status === 'issuing' || present.status === 'done') return present;
        if (present.status !== 'checked') throw notChecked(present);
        if (round !== null && round !== present.round) {
          const message = `Import ${id} was read anew with other columns meanwhile. Read it again.`;
          throw serviceError('import_not_checked', message, 'round');
        }
        const now = new Date();
        const change = { status: 'issuing', startedAt: now, startedBy: actorOf(by), failure: null } as const;
        const started = await imports.change(present, ['checked'], change, now);
        if (!started) continue;
        wakeImports();
        await record({ subject: id, details: { invoices: String(present.counts.ready) } });
        return started;
      }
    },
  },

  /**
   * Reads a file again with other columns, and saves these for later files with the same headers.
   * @param privateCustomers whether customers without an ICE are private persons; null: as before
   * @throws {ServiceError} invalid_request for a column that the file does not have, an unknown field, or a field that
   *   two columns would fill; import_not_checked after the start
   */
  remapImport: {
    scope: 'draft',
    audit: { action: 'import.columns_chosen', description: 'The columns of an uploaded file were chosen.' },
    async run(
      needs: ChangeNeeds,
      { by, record }: Change,
      id: string,
      columns: ColumnMapping,
      privateCustomers: boolean | null,
    ): Promise<Import> {
      const { imports, mappings, wakeImports } = needs;
      const present = await ownImport(imports, by, id);
      const { reading, round } = present;
      if (reading === null) throw notChecked(present);
      const headers = headersOf(reading);
      const arePrivate = privateCustomers ?? reading.privateCustomers === true;
      const mapping = { ...remapped(reading, columns), ...(arePrivate && { [PRIVATE_CUSTOMERS]: 'customer.kind' }) };
      const change = { status: 'reading', round: round + 1, mapping, counts: NO_COUNTS, failure: null } as const;
      const changed = await imports.change(present, ['checked', 'reading'], change, new Date());
      if (!changed) throw notChecked(await ownImport(imports, by, id));
      await mappings.keep(ownerOf(by), headers, mapping);
      wakeImports();
      await record({ subject: id });
      return changed;
    },
  },

  /**
   * Removes an import with its file and verdicts. The issued invoices remain.
   * @throws {ServiceError} import_not_checked while its invoices are being issued
   */
  discardImport: {
    scope: 'draft',
    audit: { action: 'import.discarded', description: 'An uploaded file was removed. Its issued invoices stay.' },
    async run(needs: ChangeNeeds, { by, record }: Change, id: string): Promise<void> {
      const { imports, importedInvoices, importFiles } = needs;
      const present = await ownImport(imports, by, id);
      if (!(await imports.remove(id, ['reading', 'unreadable', 'checked', 'done']))) throw notChecked(present);
      await importFiles.remove(id);
      await importedInvoices.removeUpTo(id, present.round);
      await record({ subject: id });
    },
  },

  importProgress: watchImport,
} as const satisfies Readonly<Record<string, UseCase>>;

/** Returns the id of an invoice of a file, which is also its cursor. */
export function importedId({ importId, nth }: Pick<ImportedInvoice, 'importId' | 'nth'>): string {
  return `${importId}.${nth}`;
}

/** Returns the place in the file of the invoice with this id; null if the id belongs to no invoice of the import. */
function nthOf({ id }: Import, imported: string): number | null {
  const nth = imported.startsWith(`${id}.`) ? imported.slice(id.length + 1) : '';
  return /^\d{1,6}$/.test(nth) ? Number(nth) : null;
}

/**
 * Returns all columns of a file with these changes. A field that moves to another column leaves its former column
 * without a field. Undecided columns stay undecided.
 */
function remapped({ columns }: FileReading, changes: ColumnMapping): ColumnMapping {
  const own = columns.filter(({ isResult }) => !isResult);
  const present = new Map(own.map(({ key, field }) => [key, field] as const));
  const taken = new Set<string>();
  for (const [key, field] of Object.entries(changes)) {
    if (!present.has(key)) throw notAColumn(`The file has no column '${key.slice(0, 80)}'.`);
    if (field === null) continue;
    if (columnOf(field) === null) throw notAColumn(`There is no field '${field.slice(0, 80)}'.`);
    if (taken.has(field)) throw notAColumn(`Two columns would fill '${field}'.`);
    taken.add(field);
  }
  for (const [key, field] of present) if (field !== null && taken.has(field)) present.set(key, null);
  // If alternatives are undecided (two prices or discounts), choosing one of them decides all.
  for (const { key, mayBe } of own) if (mayBe && !mayBe.some((each) => taken.has(each))) present.delete(key);
  return { ...Object.fromEntries(present), ...changes };
}

function notAColumn(message: string) {
  return serviceError('invalid_request', message, 'columns');
}

/** Returns when a file that is uploaded now expires. */
export function expiryOf(uploadedAt: Date): Date {
  return later(uploadedAt, IMPORT_DAYS * DAY_MS);
}

function notChecked({ id, status }: Import) {
  return serviceError('import_not_checked', `Import ${id} is ${status}, not checked. Read it again.`, 'id');
}

function limitReached({ environment }: Owner, count: number) {
  const message =
    count < MAX_IMPORTS
      ? `The files of all imports in the ${environment} environment may have ${MAX_IMPORT_MIB} MiB together. Discard some first.`
      : `There are already ${MAX_IMPORTS} imports in the ${environment} environment, which is the maximum. Discard some first.`;
  return serviceError('import_limit_reached', message);
}
