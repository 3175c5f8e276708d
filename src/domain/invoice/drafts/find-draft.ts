import { serviceError } from '../../errors.ts';
import { isId } from '../../ids.ts';
import type { Member } from '../../principal.ts';
import type { Owner } from '../../tenant/tenant.ts';
import type { InvoiceIds } from '../invoice-ids.ts';
import type { InvoiceReading } from '../repository.ts';
import type { Draft, DraftStore } from './draft.ts';

/** The ports that find drafts which are not issued. */
export interface DraftNeeds {
  readonly drafts: DraftStore;
  readonly invoices: Pick<InvoiceReading, 'tenantsOf'>;
  readonly invoiceIds: InvoiceIds;
}

export function ownerOf({ tenant, environment }: Member): Owner {
  return { tenantId: tenant.id, environment };
}

/** Finds a draft of the owner; it may be issued already. */
export async function findOwn(
  drafts: Pick<DraftStore, 'find'>,
  { tenantId, environment }: Owner,
  id: string,
): Promise<Draft | null> {
  const found = isId('drf', id) ? await drafts.find(id) : null;
  return found?.tenantId === tenantId && found.environment === environment ? found : null;
}

/** Finds a draft of the caller that is not issued. @throws {ServiceError} resource_not_found, draft_issued */
export async function ownDraft(needs: DraftNeeds, by: Member, id: string): Promise<Draft> {
  const owner = ownerOf(by);
  const found = await findOwn(needs.drafts, owner, id);
  if (found?.issuingUntil === null) return found;
  const [issued] = isId('drf', id) ? await issuedAmong(needs, owner, [id]) : [];
  if (issued) {
    // The process that issued the draft died before removing it.
    if (found) await needs.drafts.removeIssued(id, found.version);
    throw issuedAs(id, issued.invoiceId);
  }
  if (found) return found;
  throw missing(id);
}

/** Returns those of the drafts of which there is an invoice. */
export async function issuedAmong(
  { invoices, invoiceIds }: Pick<DraftNeeds, 'invoices' | 'invoiceIds'>,
  owner: Owner,
  ids: readonly string[],
): Promise<{ readonly id: string; readonly invoiceId: string }[]> {
  const all = ids.map((id) => ({ id, invoiceId: invoiceIds.ofDraft(owner, id) }));
  const stored = await invoices.tenantsOf(all.map(({ invoiceId }) => invoiceId));
  return all.filter(({ invoiceId }) => stored.has(invoiceId));
}

/**
 * Requires that the draft has the version that the caller has read, and is not being issued.
 * @throws {ServiceError} draft_changed, draft_issued
 */
export function requireUnchanged({ id, version: present, issuingUntil }: Draft, version: number): void {
  if (present !== version) throw changedMeanwhile(id, present, version);
  if (issuingUntil !== null && issuingUntil > new Date())
    throw serviceError('draft_issued', `Draft ${id} is being issued. Read it again in a minute.`, 'id');
}

export function changedMeanwhile(id: string, present: number, version: number) {
  const message = `Draft ${id} has version ${present}, not ${version}: it was changed meanwhile. Read it again.`;
  return serviceError('draft_changed', message, 'version');
}

export function issuedAs(id: string, invoiceId: string) {
  return serviceError('draft_issued', `Draft ${id} was issued as invoice ${invoiceId}.`, 'id');
}

export function missing(id: string) {
  const message = `There is no draft '${id.slice(0, 80)}' in this tenant and environment.`;
  return serviceError('resource_not_found', message, 'id');
}
