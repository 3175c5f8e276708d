import { serviceError } from '../errors.ts';
import { type PageSpan, placeInList } from '../page.ts';
import type { Member } from '../principal.ts';
import { customerKey } from './customer-key.ts';
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
} as const satisfies Readonly<Record<SortByValue, readonly [SortValue['field'], boolean]>>;

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
 * @param filters the other conditions of the list: no index has one of them and the value
 * @throws {ServiceError} invalid_request for a filter, a limit out of range or an unknown cursor
 */
export async function sortedPage(
  invoices: Pick<InvoiceReading, 'sortedPage' | 'find' | 'orderOf'>,
  { tenant, environment }: Pick<Member, 'tenant' | 'environment'>,
  { sort, kind, maxBytes, ...span }: SortedListInput,
  filters: object,
): Promise<InvoicePage> {
  const other = Object.entries(filters).find(([, value]) => value != null)?.[0];
  if (other !== undefined)
    throw serviceError('invalid_request', `sort: ${sort} cannot be combined with ${other}.`, 'sort');
  const [field, isDescending] = VALUES[sort];
  let value: SortValue | null = null;
  const { limit, cursor } = await placeInList(span, async (id) => {
    const isOfList = kind === null ? isDocumentId(id) : isIdOfKind(kind, id);
    const order = isOfList ? await invoices.orderOf(tenant.id, environment, id) : null;
    const row = order === null ? null : await invoices.find(id);
    if (!row || order === null) return null;
    value = field === 'amount' ? { field, value: row.amount } : { field, value: customerKey(row.customer.name) };
    return { order };
  });
  const isBackwards = (cursor?.direction === 'before') !== isDescending;
  const page = await invoices.sortedPage({
    tenantId: tenant.id,
    environment,
    kind,
    field,
    isBackwards,
    after: cursor && value && { value: (value as SortValue).value, order: cursor.order },
    limit,
    ...(maxBytes !== undefined && { maxBytes }),
  });
  return cursor?.direction === 'before' ? reversed(page) : page;
}

/** Returns a page whose rows are in the reverse order. */
export function reversed(page: InvoicePage): InvoicePage {
  return { ...page, invoices: page.invoices.toReversed() };
}
