import { serviceError } from '../errors.ts';
import { isId } from '../ids.ts';
import { PAGE_SIZE } from '../limits.ts';
import { type Member, type Principal, requireScope } from '../principal.ts';
import { customerKey } from './customer-key.ts';
import type { InvoiceStatus } from './lifecycle.ts';
import type { InvoiceMatch, InvoicePage, InvoiceRepository } from './repository.ts';

export interface ListInvoicesInput {
  readonly status: InvoiceStatus | null;
  /**
   * Only the invoices of a customer, or of this total; at most one of the three, and not with a status. The name is
   * compared as {@link customerKey} says.
   */
  readonly customerName?: string | null | undefined;
  /** 15 digits. */
  readonly customerIce?: string | null | undefined;
  /** Centimes. */
  readonly amount?: number | null | undefined;
  /** 1 to 100. */
  readonly limit: number;
  /** Limits the page to invoices that are older (`after`) or newer (`before`) than the one with this id. */
  readonly cursor: { readonly direction: 'after' | 'before'; readonly id: string } | null;
  /** Compared in whole seconds; the given second is excluded. */
  readonly createdAfter: Date | null;
  readonly createdBefore: Date | null;
  /** Maximum size of the page's invoices in bytes; default 16 MiB. The first invoice is always included. */
  readonly maxBytes?: number;
}

export type ListInvoices = ReturnType<typeof createListInvoices>;

export function createListInvoices(invoices: Pick<InvoiceRepository, 'page' | 'orderOf'>) {
  /**
   * Returns a page of the invoices of the key's tenant and environment, newest first (docs/api/contract.md,
   * "GET /v1/invoices").
   * @throws {ServiceError} insufficient_scope; invalid_request for a limit out of range, filters that cannot be combined,
   *   or a cursor that is not the id of one of these invoices
   */
  return async (principal: Principal, input: ListInvoicesInput): Promise<InvoicePage> => {
    const owner = requireScope(principal, 'read');
    if (!Number.isInteger(input.limit) || input.limit < 1 || input.limit > PAGE_SIZE.most) {
      const param = input.cursor?.direction === 'before' ? 'last' : 'first';
      throw serviceError('invalid_request', `${param} must be an integer from 1 to ${PAGE_SIZE.most}.`, param);
    }
    return invoices.page({
      tenantId: owner.tenant.id,
      environment: owner.environment,
      status: input.status,
      match: matchOf(input),
      limit: input.limit,
      ...(input.maxBytes !== undefined && { maxBytes: input.maxBytes }),
      cursor: input.cursor && (await cursorOf(owner, input.cursor)),
      // Compared in whole seconds, as timestamps are shown.
      createdFrom: input.createdAfter && (Math.floor(input.createdAfter.getTime() / 1000) + 1) * 1000,
      createdUntil: input.createdBefore && Math.ceil(input.createdBefore.getTime() / 1000) * 1000,
    });
  };

  async function cursorOf(owner: Member, { direction, id }: NonNullable<ListInvoicesInput['cursor']>) {
    const order = isId('inv', id) ? await invoices.orderOf(owner.tenant.id, owner.environment, id) : null;
    if (order === null) {
      throw serviceError('invalid_request', `${direction} must be the id of one of your invoices.`, direction);
    }
    return { direction, order };
  }
}

function matchOf({ status, customerName, customerIce, amount }: ListInvoicesInput): InvoiceMatch | null {
  const given = Object.entries({ customerName, customerIce, amount }).filter(([, value]) => value != null);
  const [first, second] = given.map(([name]) => name);
  if (first === undefined) return null;
  const other = second ?? (status !== null ? 'status' : undefined);
  if (other !== undefined)
    throw serviceError('invalid_request', `${first} cannot be combined with ${other}.`, second ?? first);
  if (customerName != null) return { customerKey: customerKey(customerName) };
  if (customerIce != null) return { customerIce };
  return { amount: amount as number };
}
