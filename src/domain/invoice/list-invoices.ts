import { serviceError } from '../errors.ts';
import { isId } from '../ids.ts';
import { type KeyPrincipal, type Principal, requireSecretKey } from '../principal.ts';
import type { InvoiceStatus } from './lifecycle.ts';
import type { InvoicePage, InvoiceRepository } from './repository.ts';

export interface ListInvoicesInput {
  readonly status: InvoiceStatus | null;
  /** 1 to 100. */
  readonly limit: number;
  /** An invoice's id: the page holds older ones. */
  readonly startingAfter: string | null;
  /** An invoice's id: the page holds newer ones. */
  readonly endingBefore: string | null;
  /** Compared in whole seconds; the instant itself is excluded. */
  readonly createdAfter: Date | null;
  readonly createdBefore: Date | null;
}

export interface ListInvoices {
  /**
   * A page of the key's tenant and environment, newest first (specification, "GET /v1/invoices").
   * @throws {ServiceError} insufficient_scope; invalid_request for a limit out of range, both cursors at once, or a cursor that is not one
   *   of this tenant's invoices
   */
  (principal: Principal, input: ListInvoicesInput): Promise<InvoicePage>;
}

export function createListInvoices(invoices: Pick<InvoiceRepository, 'page' | 'orderOf'>): ListInvoices {
  return async (principal, input) => {
    const owner = requireSecretKey(principal);
    if (!Number.isInteger(input.limit) || input.limit < 1 || input.limit > 100) {
      throw serviceError('invalid_request', 'limit must be an integer from 1 to 100.', 'limit');
    }
    return invoices.page({
      tenantId: owner.tenant.id,
      environment: owner.environment,
      status: input.status,
      limit: input.limit,
      cursor: await cursorOf(owner, input),
      // What is compared is what is shown: whole seconds.
      createdFrom: input.createdAfter && (Math.floor(input.createdAfter.getTime() / 1000) + 1) * 1000,
      createdUntil: input.createdBefore && Math.ceil(input.createdBefore.getTime() / 1000) * 1000,
    });
  };

  async function cursorOf(owner: KeyPrincipal, input: ListInvoicesInput) {
    const { startingAfter, endingBefore } = input;
    if (startingAfter !== null && endingBefore !== null) {
      throw serviceError('invalid_request', 'Use starting_after or ending_before, not both.', 'ending_before');
    }
    const id = startingAfter ?? endingBefore;
    if (id === null) return null;
    const direction = startingAfter === null ? 'before' : 'after';
    const order = isId('inv', id) ? await invoices.orderOf(owner.tenant.id, owner.environment, id) : null;
    if (order === null) {
      const param = direction === 'after' ? 'starting_after' : 'ending_before';
      throw serviceError('invalid_request', `${param} must be the id of one of your invoices.`, param);
    }
    return { direction, order } as const;
  }
}
