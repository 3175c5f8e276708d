import { serviceError } from '../errors.ts';
import { orderAt } from '../order-key.ts';
import { type PageQuery, type PageSpan, placeInList } from '../page.ts';
import type { Call, UseCase } from '../use-case.ts';
import { customerKey } from './customer-key.ts';
import type { InvoiceMatch, InvoicePage } from './invoice-queries.ts';
import { isDocumentId, isIdOfKind, type Kind } from './kinds.ts';
import type { InvoiceStatus } from './lifecycle.ts';
import type { InvoiceReading } from './repository.ts';
import { searchOf } from './search/query.ts';
import { isByValue, reversed, sortedPage } from './sorted-list.ts';
import type { Sort } from './sorts.ts';

export interface ListInvoicesInput extends PageSpan {
  readonly status: InvoiceStatus | null;
  /**
   * Restricts the list to the invoices of a customer, or with a total. At most one of the three may be set, and none
   * with a status. The name is compared as {@link customerKey} says.
   */
  readonly customerName?: string | null | undefined;
  /** 15 digits. */
  readonly customerIce?: string | null | undefined;
  /** Centimes. */
  readonly amount?: number | null | undefined;
  /** Restricts the list to what matches all of these words ({@link searchOf}). With none of the three. */
  readonly search?: string | null | undefined;
  /** Compared in whole seconds. The given second itself is excluded. */
  readonly createdAfter: Date | null;
  readonly createdBefore: Date | null;
  /** Maximum size of the page's invoices in bytes; default 4 MiB. The first invoice is always included. */
  readonly maxBytes?: number;
}

/**
 * Returns a page of the invoices of the key's tenant and environment, newest first (docs/api/contract.md,
 * "GET /v1/invoices").
 * @throws {ServiceError} invalid_request for a limit out of range, filters that cannot be combined,
 *   or a cursor that is not the id of one of these invoices
 */
export const invoices = {
  scope: 'read',
  run: (ports: ListPorts, call: Call, input: ListInvoicesInput): Promise<InvoicePage> =>
    pageOf('invoice', ports, call, input),
} as const satisfies UseCase;

export interface ListFiscalDocumentsInput extends ListInvoicesInput {
  /** Null for the documents of all kinds as one list. */
  readonly kind: Kind | null;
  readonly sort: Sort;
}

/**
 * Returns a page of the fiscal documents of the key's tenant and environment, as {@link invoices} does, in the order of
 * `sort`.
 * @throws {ServiceError} invalid_request also for a filter that cannot be combined with the order
 */
export const fiscalDocuments = {
  scope: 'read',
  async run(ports: SortedPorts, call: Call, { kind, sort, ...input }: ListFiscalDocumentsInput): Promise<InvoicePage> {
    if (isByValue(sort)) {
      const { limit, cursor, maxBytes, ...filters } = input;
      const span = { limit, cursor, ...(maxBytes !== undefined && { maxBytes }) };
      return sortedPage(ports.invoices, call.by, { sort, kind, ...span }, filters);
    }
    if (sort === 'oldest' && input.search != null)
      throw serviceError('invalid_request', 'sort: oldest cannot be combined with search.', 'sort');
    return pageOf(kind, ports, call, input, sort === 'oldest');
  },
} as const satisfies UseCase;

interface ListPorts {
  readonly invoices: Pick<InvoiceReading, 'page' | 'orderOf'>;
}

interface SortedPorts {
  readonly invoices: Pick<InvoiceReading, 'page' | 'orderOf' | 'sortedPage' | 'numberedPage' | 'find'>;
}

async function pageOf(
  kind: Kind | null,
  { invoices }: ListPorts,
  { by: { tenant, environment } }: Call,
  input: ListInvoicesInput,
  isOldestFirst = false,
): Promise<InvoicePage> {
  const orderOf = async (id: string) => {
    const isOfList = kind === null ? isDocumentId(id) : isIdOfKind(kind, id);
    const order = isOfList ? await invoices.orderOf(tenant.id, environment, id) : null;
    return order === null ? null : { order };
  };
  const expected = kind === 'invoice' ? 'the id of one of your invoices' : undefined;
  const place = await placeInList(input, orderOf, expected);
  const page = await invoices.page({
    tenantId: tenant.id,
    environment,
    kind,
    status: input.status,
    match: matchOf(input),
    search: input.search == null ? null : searchOf(input.search),
    ...(isOldestFirst ? turned(place) : place),
    ...(input.maxBytes !== undefined && { maxBytes: input.maxBytes }),
    // Rounded to whole seconds, as timestamps are shown.
    createdFrom: input.createdAfter && (Math.floor(input.createdAfter.getTime() / 1000) + 1) * 1000,
    createdUntil: input.createdBefore && Math.ceil(input.createdBefore.getTime() / 1000) * 1000,
  });
  return isOldestFirst ? reversed(page) : page;
}

/** Returns the place in the reverse order, whose beginning is before all keys. */
function turned({ limit, cursor }: Pick<PageQuery, 'limit' | 'cursor'>): Pick<PageQuery, 'limit' | 'cursor'> {
  if (cursor?.direction === 'before') return { limit, cursor: { ...cursor, direction: 'after' } };
  return { limit, cursor: { direction: 'before', order: cursor?.order ?? orderAt(0) } };
}

function matchOf({ status, search, customerName, customerIce, amount }: ListInvoicesInput): InvoiceMatch | null {
  const given = Object.entries({ customerName, customerIce, amount }).filter(([, value]) => value != null);
  const [first, second] = given.map(([name]) => name);
  if (first === undefined) return null;
  const other = second ?? (status !== null ? 'status' : search == null ? undefined : 'search');
  if (other !== undefined)
    throw serviceError('invalid_request', `${first} cannot be combined with ${other}.`, second ?? first);
  if (customerName != null) return { customerKey: customerKey(customerName) };
  if (customerIce != null) return { customerIce };
  return { amount: amount as number };
}
