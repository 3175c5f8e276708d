import { LRUCache } from 'lru-cache';
import type { TenantRepository } from '../tenant/ports.ts';
import type { Invoice } from './invoice.ts';
import { isDocumentId } from './kinds.ts';
import type { InvoiceReading } from './repository.ts';

/**
 * Finds an invoice or a credit note for callers with a credential or link of this document alone. Returns null as soon
 * as the erasure of its tenant begins, because its documents are then removed one by one. The tenant's own credentials
 * have ended with its keys.
 */
export type FindPresentInvoice = (invoiceId: string) => Promise<Invoice | null>;

export function createFindPresentInvoice(
  invoices: Pick<InvoiceReading, 'find'>,
  tenants: Pick<TenantRepository, 'find'>,
): FindPresentInvoice {
  return async (invoiceId) => {
    const invoice = isDocumentId(invoiceId) ? await invoices.find(invoiceId) : null;
    return invoice && (await tenants.find(invoice.tenantId)) ? invoice : null;
  };
}

/** Maximum number of invoices whose tenant is remembered. */
const REMEMBERED = 50_000;

/**
 * Creates a function that returns those of the given invoices that {@link FindPresentInvoice} finds. An invoice keeps
 * its tenant, so it is read once, and the tenants each time: reading 500 invoices of 240 KB takes 4 s.
 */
export function createPresentAmong(
  invoices: Pick<InvoiceReading, 'tenantsOf'>,
  tenants: Pick<TenantRepository, 'presentAmong'>,
) {
  const known = new LRUCache<string, string>({ max: REMEMBERED });
  return async (invoiceIds: readonly string[]): Promise<ReadonlySet<string>> => {
    const unknown = invoiceIds.filter((id) => !known.has(id));
    const read = unknown.length > 0 ? await invoices.tenantsOf(unknown) : new Map<string, string>();
    for (const [id, tenantId] of read) known.set(id, tenantId);
    const owners = invoiceIds.map((id) => [id, read.get(id) ?? known.get(id)] as const);
    const present = await tenants.presentAmong([...new Set(owners.flatMap(([, tenantId]) => tenantId ?? []))]);
    return new Set(owners.filter(([, tenantId]) => tenantId && present.has(tenantId)).map(([id]) => id));
  };
}
