import { randomBytes } from 'node:crypto';
import { createAudit } from '../domain/audit/record-entries.ts';
import type { Audit } from '../domain/audit-entry.ts';
import { createEmbedTokens, type EmbedTokens } from '../domain/embedding/embed-token.ts';
import { type ClientSecrets, createClientSecrets } from '../domain/invoice/client-secret.ts';
import type { SettledCounts } from '../domain/invoice/count-invoices.ts';
import type { DocumentStore } from '../domain/invoice/document-store.ts';
import { createInvoiceIds, type InvoiceIds } from '../domain/invoice/invoice-ids.ts';
import type { IssuedDays } from '../domain/invoice/periods/filter-totals.ts';
import type { PeriodSums } from '../domain/invoice/periods/ports.ts';
import type { InvoiceRepository } from '../domain/invoice/repository.ts';
import { createFairQueue } from '../domain/kit/fair-queue.ts';
import type { Through } from '../domain/kit/group.ts';
import type { RequestLog } from '../domain/request-log/request-record.ts';
import type { LogoStore, SignersCertificates } from '../domain/tenant/ports.ts';
import { CONNECT_MS } from '../storage/connect.ts';
import { createDocumentStore } from '../storage/documents.ts';
import type { StoreHealth } from '../storage/health.ts';
import { ensureIndexes } from '../storage/indexes.ts';
import { createSettledCounts } from '../storage/invoice-counts.ts';
import { createInvoiceFeed, type InvoiceFeedService } from '../storage/invoice-feed.ts';
import { createInvoiceRepository } from '../storage/invoices.ts';
import { createIssuedDays } from '../storage/issued-days.ts';
import { createLogoStore } from '../storage/logos.ts';
import { createPeriodSums } from '../storage/period-sums.ts';
import { createRequestLog } from '../storage/request-log.ts';
import { createSignersCertificates } from '../storage/signers-certificates.ts';
import { beginVersions, isNewStore, upgradeData } from '../storage/upgrades.ts';
import { setWebhookRetention } from '../storage/webhook-retention.ts';
import { type Administration, administrationOf } from './administration.ts';
import { openDataKeys, type ProcessKeys, watchDataKeys } from './data-keys.ts';
import { NOTICED_MS, watchData } from './data-watch.ts';
import type { Metrics } from './metrics.ts';
import { type LogFailure, watchOutages } from './outages.ts';
import type { Runtime } from './runtime.ts';
import { type OpenStore, openStore, prepareDataFolder } from './store.ts';

/**
 * Maximum number of grouped writes of background work that run at the same time (docs/decisions/0049). The embedded
 * engine runs one command after the other, so more would only make groups smaller, and delay commands that a client
 * waits for.
 */
const BACKGROUND_WRITES = { 'own engine': 1, 'running engine': 1, server: 4 } as const;

/** The store with its repositories, and the keys of its data. */
export interface Data
  extends Pick<
    Administration,
    | 'tenants'
    | 'manageKeys'
    | 'liveConditions'
    | 'installation'
    | 'people'
    | 'authorityState'
    | 'members'
    | 'auditLog'
    | 'issuedNumbers'
  > {
  readonly store: OpenStore;
  /**
   * Whether no other process uses the store, because this process started the engine. It is then the only worker, and
   * counts requests for rate limits in memory. An engine that another process started may have other users.
   */
  readonly alone: boolean;
  readonly health: StoreHealth;
  readonly logFailure: LogFailure;
  readonly keys: ProcessKeys;
  readonly clientSecrets: ClientSecrets;
  readonly embedTokens: EmbedTokens;
  readonly invoiceIds: InvoiceIds;
  /** The repository of invoices. It also updates the metrics. */
  readonly invoices: InvoiceRepository;
  readonly settledCounts: SettledCounts;
  readonly periodSums: PeriodSums;
  readonly issuedDays: IssuedDays;
  readonly requestLog: RequestLog;
  readonly signersCertificates: SignersCertificates;
  /** The audit log. It also writes each entry to the log of the process. */
  readonly audit: Audit;
  readonly documents: DocumentStore;
  readonly logos: LogoStore;
  /** The feed of invoice changes. Not started yet. */
  readonly feed: InvoiceFeedService;
  /** Limits grouped writes that no client waits for. Their kinds take turns. */
  readonly background: (kind: string) => Through;
}

/**
 * Opens the configured store, or uses `options.store`, creates its indexes and sets the retention of webhooks.
 * @param options.monitorCommands whether the MongoDB client of a store opened here emits command events
 * @throws when the store, DATA_DIR or the master key cannot be used; the message says why
 */
export async function openData(
  runtime: Runtime,
  metrics: Metrics,
  options: { readonly store?: OpenStore; readonly monitorCommands?: boolean },
): Promise<Data> {
  const { config, closing } = runtime;
  await prepareDataFolder(config);
  const store = options.store ?? (await openOwnStore(runtime, options.monitorCommands));
  const { db } = store;
  const { keyRing, ...administration } = administrationOf(store, config);
  const {
    tenants,
    manageKeys,
    liveConditions,
    installation,
    people,
    authorityState,
    members,
    auditLog,
    issuedNumbers,
  } = administration;
  // First, because the writes below make the store look used.
  if (await isNewStore(db)) await beginVersions(db);
  const keys = await openDataKeys(config, keyRing);
  const report = (text: string): void => runtime.log.info(text);
  await ensureIndexes(db, report);
  const invoiceIds = createInvoiceIds(await installation.keepInvoiceIdSecret(randomBytes(32).toString('base64url')));
  await upgradeData(db, { alone: store.kind === 'own engine', noticedMs: NOTICED_MS, report });
  await setWebhookRetention(db, config.webhookRetention);
  const { health: storeHealth, logFailure } = watchOutages(runtime, db);
  const health = { ...storeHealth, trouble: async () => keys.trouble() ?? storeHealth.trouble() };
  watchDataKeys(runtime, keys, logFailure);
  // Not watched if no other process can use the engine: upgrades and moves need a process of their own.
  if (store.kind !== 'own engine') watchData(runtime, db, logFailure);
  const feed = createInvoiceFeed(db, (err) =>
    logFailure('warn', 'the change stream of invoices failed and is being reopened', err),
  );
  closing.add(() => feed.close());
  const turns = createFairQueue({ places: BACKGROUND_WRITES[store.kind] });
  const background =
    (kind: string): Through =>
    (work) =>
      turns.run(kind, work);
  return {
    store,
    health,
    logFailure,
    tenants,
    manageKeys,
    liveConditions,
    installation,
    people,
    authorityState,
    members,
    auditLog,
    issuedNumbers,
    keys,
    feed,
    background,
    alone: store.kind === 'own engine',
    clientSecrets: createClientSecrets(keys.data, config.installationName),
    embedTokens: createEmbedTokens(keys.data),
    invoiceIds,
    invoices: metrics.observed(createInvoiceRepository(db, background('changes'))),
    settledCounts: createSettledCounts(db),
    periodSums: createPeriodSums(db),
    issuedDays: createIssuedDays(db),
    requestLog: createRequestLog(db),
    signersCertificates: createSignersCertificates(db),
    audit: createAudit(
      auditLog,
      (entry) => runtime.log.info({ audit: entry }, entry.action),
      (err) => logFailure('error', 'audit entries could not be stored; the log has them', err),
    ),
    documents: createDocumentStore(db, background('documents')),
    logos: createLogoStore(db),
  };
}

async function openOwnStore({ config, log, closing, fail }: Runtime, monitorCommands = false): Promise<OpenStore> {
  if (config.mongodbUrl !== null) log.info(`connecting to the server at MONGODB_URL, for up to ${CONNECT_MS / 1000} s`);
  const store = await openStore(config, { join: false, monitorCommands, onFailure: fail });
  closing.add(() => store.close());
  return store;
}
