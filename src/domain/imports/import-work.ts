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

/** Thrown when another worker has claimed the import, or a person has changed or discarded it meanwhile. */
export class ImportLost extends Error {
  override readonly name = 'ImportLost';
}

/** The pause after a piece of work: as a fraction of the work's duration, and its maximum in milliseconds. */
const [REST, MOST_REST_MS] = [0.8, 250];

/**
 * Runs a piece of the work on an import, and pauses. If the processor or the store is busy, the work takes longer, and
 * so does the pause.
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

/**
 * Returns a function that saves progress every {@link PROGRESS_MS}, and throws ImportLost if the claim was lost
 * meanwhile.
 */
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
 * Returns the caller on whose behalf a worker checks and issues the invoices of an import. The person or key that
 * started the import was authorized then; a tenant that was suspended since is refused.
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
