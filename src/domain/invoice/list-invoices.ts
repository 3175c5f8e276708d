import { z } from 'zod';
import { serviceError } from '../errors.ts';
import { isId } from '../ids.ts';
import { type KeyPrincipal, type Principal, requireSecretKey } from '../principal.ts';
import { INVOICE_STATUSES, type InvoiceStatus } from './lifecycle.ts';
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

const ISO_INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/;

const instant = z
  .string()
  .refine((text) => ISO_INSTANT.test(text) && !Number.isNaN(Date.parse(text)), {
    error: 'must be an ISO 8601 instant with a time zone, such as 2026-01-31T12:00:00Z',
  })
  .transform((text) => new Date(text));

/** The query parameters of GET /v1/invoices. */
export const listInvoicesQuery = z.strictObject({
  status: z.enum(INVOICE_STATUSES, { error: `must be one of ${INVOICE_STATUSES.join(', ')}` }).optional(),
  limit: z
    .string()
    .refine((text) => /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 100, { error: 'must be an integer from 1 to 100' })
    .transform(Number)
    .default(20),
  starting_after: z.string().optional(),
  ending_before: z.string().optional(),
  created_after: instant.optional(),
  created_before: instant.optional(),
});
