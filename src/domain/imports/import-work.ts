import { setTimeout as sleep } from 'node:timers/promises';
import type { Actor } from '../principal.ts';
import { type Member, requireScope } from '../principal.ts';
import type { TenantRepository } from '../tenant/ports.ts';
import type { Environment, Tenant } from '../tenant/tenant.ts';
import type { ImportClaim, ImportedInvoiceStore, ImportProgress, ImportStore, IssuedRows } from './import-store.ts';
import type { ImportInvoicing } from './invoicing.ts';

/** The ports that the work on imports needs. */
export interface ImportWorkNeeds {
  readonly imports: ImportStore;
  readonly importedInvoices: ImportedInvoiceStore;
  readonly issuedRows: IssuedRows;
  readonly invoicing: ImportInvoicing;
  readonly tenants: Pick<TenantRepository, 'find'>;
}

/** Another worker has the import, or it was changed or discarded meanwhile. */
export class ImportLost extends Error {
  override readonly name = 'ImportLost';
}

/** How long a pause follows some work, as a part of its time, and at most, milliseconds. */
const [REST, MOST_REST_MS] = [0.8, 250];

/**
 * Runs a part of the work on an import, and rests: where others wait for the processor or the store, the work takes
 * longer, and so does the rest.
 */
export async function withRest<Result>(work: () => Promise<Result>): Promise<Result> {
  const begun = performance.now();
  const result = await work();
  const tookMs = performance.now() - begun;
  await sleep(Math.min(MOST_REST_MS, REST * tookMs), undefined, { ref: false });
  return result;
}

/** Pause between two writes of the same import's progress, milliseconds. */
const PROGRESS_MS = 400;

/** Returns a function that writes progress now and then, and always tells if the claim is lost by then. */
export function progressOf(
  imports: Pick<ImportStore, 'save'>,
  claim: ImportClaim,
  signal: AbortSignal,
): (progress: () => ImportProgress) => Promise<void> {
  let savedAt = performance.now();
  return async (progress) => {
    signal.throwIfAborted();
    if (performance.now() - savedAt < PROGRESS_MS) return;
    savedAt = performance.now();
    if (!(await imports.save(claim, progress()))) throw new ImportLost();
  };
}

/**
 * The caller for whom invoices of an import are checked and issued in the background. Who started that was admitted
 * then; a tenant that was suspended since is refused.
 * @returns null if the tenant is erased
 */
export async function memberOf(
  tenants: Pick<TenantRepository, 'find'>,
  { tenantId, environment }: { readonly tenantId: string; readonly environment: Environment },
  actor: Actor,
  scope: 'read' | 'issue',
): Promise<Member | null> {
  const tenant: Tenant | null = await tenants.find(tenantId);
  return tenant && requireScope({ kind: 'secret', keyId: actor.id ?? '', tenant, environment }, scope);
}
