import { serviceError } from '../errors.ts';
import { type PageSpan, placeInList } from '../page.ts';
import type { Member } from '../principal.ts';
import { customerKey } from './customer-key.ts';
import type { Invoice } from './invoice.ts';
import type { InvoicePage, SortValue } from './invoice-queries.ts';
import { isDocumentId, isIdOfKind, type Kind } from './kinds.ts';
import type { InvoiceReading } from './repository.ts';
import type { Sort } from './sorts.ts';

type SortByValue = Exclude<Sort, 'newest' | 'oldest'>;

const VALUES = {
  amount: ['amount', false],
  amount_descending: ['amount', true],
  customer: ['customerKey', false],
  customer_descending: ['customerKey', true],
  number: ['number', false],
  number_descending: ['number', true],
} as const satisfies Readonly<Record<SortByValue, readonly [SortValue['field'] | 'number', boolean]>>;

export function isByValue(sort: Sort): sort is SortByValue {
  return sort in VALUES;
}

interface SortedListInput extends PageSpan {
  readonly sort: SortByValue;
  readonly kind: Kind | null;
  readonly maxBytes?: number;
}

/**
 * Returns a page of documents in the order of a value.
 * @param filters the other conditions of the list, which no index combines with the value
 * @throws {ServiceError} invalid_request for a filter, a limit out of range or an unknown cursor
 */
export async function sortedPage(
  invoices: Pick<InvoiceReading, 'sortedPage' | 'numberedPage' | 'find' | 'orderOf'>,
  { tenant, environment }: Pick<Member, 'tenant' | 'environment'>,
  { sort, kind, maxBytes, ...span }: SortedListInput,
  filters: object,
): Promise<InvoicePage> {
  const other = Object.entries(filters).find(([, value]) => value != null)?.[0];
  if (other !== undefined)
    throw serviceError('invalid_request', `sort: ${sort} cannot be combined with ${other}.`, 'sort');
  const [field, isDescending] = VALUES[sort];
  let found: Invoice | null = null;
  const { limit, cursor } = await placeInList(span, async (id) => {
    const isOfList = kind === null ? isDocumentId(id) : isIdOfKind(kind, id);
    const order = isOfList ? await invoices.orderOf(tenant.id, environment, id) : null;
    found = order === null ? null : await invoices.find(id);
    return found && order !== null && (field !== 'number' || found.number !== null) ? { order } : null;
  });
  const isBackwards = (cursor?.direction === 'before') !== isDescending;
  const query = {
    tenantId: tenant.id,
    environment,
    kind,
    isBackwards,
    limit,
    ...(maxBytes !== undefined && { maxBytes }),
  };
  const at = found as Invoice | null;
  const page = await (field === 'number'
    ? invoices.numberedPage({ ...query, after: at?.number ?? null })
    : invoices.sortedPage({
        ...query,
        field,
        after: cursor && at && { value: sortValueOf(field, at), order: cursor.order },
      }));
  return cursor?.direction === 'before' ? reversed(page) : page;
}

function sortValueOf(field: SortValue['field'], { amount, customer }: Invoice): SortValue['value'] {
  return field === 'amount' ? amount : customerKey(customer.name);
}

/** Returns a page whose rows are in the reverse order. */
export function reversed(page: InvoicePage): InvoicePage {
  return { ...page, invoices: page.invoices.toReversed() };
}
