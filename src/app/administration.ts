import type { Config } from '../config.ts';
import { createLiveConditions } from '../domain/api-key/live-conditions.ts';
import { createManageKeys, type ManageKeys } from '../domain/api-key/manage-keys.ts';
import type { AuditLog, RecordedEntry } from '../domain/audit-entry.ts';
import type { DifferenceRepository, LedgerCopy, ReconciliationState } from '../domain/authority/reconciliation.ts';
import type { AuthorityStateStore } from '../domain/authority/state.ts';
import type { InstallationRepository } from '../domain/installation/first-start.ts';
import type { KeyRingStore } from '../domain/installation/key-ring.ts';
import type { ClaimMembers } from '../domain/invoice/claim-members.ts';
import type { LostNumbers } from '../domain/invoice/lost-numbers.ts';
import type { NumberSeries } from '../domain/invoice/number-series.ts';
import type { IssuedNumbers } from '../domain/invoice/periods/number-ledger.ts';
import type {
  InvoiceClaims,
  InvoiceReading,
  InvoiceTransitions,
  WaitingInvoices,
} from '../domain/invoice/repository.ts';
import type { PeopleRepository } from '../domain/person/ports.ts';
import type { LiveConditions } from '../domain/tenant/ports.ts';
import type { ErasureStore } from '../domain/tenant-data/erasure.ts';
import { createAuditLog } from '../storage/audit-log.ts';
import { createDifferenceRepository } from '../storage/authority-differences.ts';
import { createLedgerCopy } from '../storage/authority-ledger.ts';
import { createAuthorityStateStore } from '../storage/authority-state.ts';
import { createClaimMembers } from '../storage/claim-members.ts';
import type { Store } from '../storage/connect.ts';
import { createErasureStore } from '../storage/erasure.ts';
import { ensureIndexes } from '../storage/indexes.ts';
import { createInstallationRepository } from '../storage/installation.ts';
import { createInvoiceRepository } from '../storage/invoices.ts';
import { createIssuedNumbers } from '../storage/issued-numbers.ts';
import { withKeyCache } from '../storage/key-cache.ts';
import { createKeyRingStore } from '../storage/key-ring.ts';
import { createLostNumbers } from '../storage/lost-numbers.ts';
import { createNumberSeries } from '../storage/number-series.ts';
import { createPeopleRepository } from '../storage/people.ts';
import { createReconciliationState } from '../storage/reconciliation-state.ts';
import { createTenantRepository, type TenantsWithKeys } from '../storage/tenants.ts';
import { beginVersions, isNewStore } from '../storage/upgrades.ts';
import { createLogger, errorOutput } from '../transport/logger.ts';
import { type LiveSettings, missingInstallation } from './live-settings.ts';
import { type OpenStore, openStore } from './store.ts';

/** The parts of a store that operators administer. */
export interface Administration {
  readonly tenants: TenantsWithKeys;
  readonly manageKeys: ManageKeys;
  readonly liveConditions: LiveConditions;
  readonly installation: InstallationRepository;
  readonly keyRing: KeyRingStore;
  readonly people: PeopleRepository;
  readonly auditLog: AuditLog;
  readonly invoices: Pick<InvoiceReading, 'find' | 'findEvenWithheld'> &
    Pick<InvoiceTransitions, 'changeWaiting' | 'retryNow'> &
    Pick<InvoiceClaims, 'transmissionsByTenant'> &
    Pick<WaitingInvoices, 'needingAttention' | 'unfinishedLive' | 'unsignedLive'>;
  readonly lostNumbers: LostNumbers;
  readonly numberSeries: NumberSeries;
  readonly issuedNumbers: IssuedNumbers;
  readonly authorityState: AuthorityStateStore;
  readonly members: Pick<ClaimMembers, 'list'>;
  readonly differences: Pick<DifferenceRepository, 'count' | 'acknowledge'>;
  readonly ledgerCopy: Pick<LedgerCopy, 'find'>;
  readonly lastReconciliation: ReconciliationState['last'];
  readonly erasures: ErasureStore;
}

export function administrationOf(
  { db }: Pick<Store, 'db'>,
  config: LiveSettings & Pick<Config, 'installationName'>,
): Administration {
  const tenants = withKeyCache(createTenantRepository(db));
  const liveConditions = createLiveConditions((tenantId) => missingInstallation(config, tenantId));
  const manageKeys = createManageKeys(tenants, liveConditions, config.installationName);
  return {
    tenants,
    manageKeys,
    liveConditions,
    installation: createInstallationRepository(db),
    keyRing: createKeyRingStore(db),
    people: createPeopleRepository(db),
    auditLog: createAuditLog(db),
    invoices: createInvoiceRepository(db),
    lostNumbers: createLostNumbers(db),
    numberSeries: createNumberSeries(db),
    issuedNumbers: createIssuedNumbers(db),
    authorityState: createAuthorityStateStore(db),
    members: createClaimMembers(db),
    differences: createDifferenceRepository(db),
    ledgerCopy: createLedgerCopy(db),
    lastReconciliation: createReconciliationState(db).last,
    erasures: createErasureStore(db),
  };
}

/** The administration of the configured store, with or without a running service. */
export interface OpenAdministration extends Administration {
  readonly store: OpenStore;
  /** Writes an entry to standard error, as the service does to its log. */
  readonly log: (entry: RecordedEntry) => void;
  close(): Promise<void>;
}

/** @throws when the store cannot be opened; the message says why */
export async function openAdministration(config: Config): Promise<OpenAdministration> {
  const store = await openStore(config, { join: true });
  try {
    // Creates what an empty store needs, because the first command may come before the first start of the service. In a
    // store with data, only a start does: data of an earlier version stays unchanged, so that the earlier program can
    // still use it.
    if (await isNewStore(store.db)) {
      await ensureIndexes(store.db);
      await beginVersions(store.db);
    }
    const log = (entry: RecordedEntry) =>
      createLogger(config.logLevel, errorOutput()).info({ audit: entry }, entry.action);
    return { ...administrationOf(store, config), store, log, close: () => store.close() };
  } catch (error) {
    await store.close();
    throw error;
  }
}
