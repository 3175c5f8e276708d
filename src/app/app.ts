import { join } from 'node:path';
import type { Logger } from 'pino';
import { createMailer } from '../adapters/email/mailer.ts';
import { isShortOfFiles, openFilesLimit } from '../adapters/open-files.ts';
import type { Config } from '../config.ts';
import type { ManageKeys } from '../domain/api-key/manage-keys.ts';
import { mostConnections, reservedFiles } from '../domain/connections.ts';
import { type FirstStart, prepareInstallation } from '../domain/installation/first-start.ts';
import { createDocumentDemand } from '../domain/invoice/document-demand.ts';
import { LANE_NAMES, LIVE_LANES } from '../domain/invoice/lanes.ts';
import { localAddress } from '../domain/local-address.ts';
import { invite } from '../domain/person/invite.ts';
import type { PasswordJudge } from '../domain/person/ports.ts';
import { createJobs } from '../jobs/agenda.ts';
import type { ClaimCounts } from '../jobs/claimer.ts';
import { createDifferenceRepository } from '../storage/authority-differences.ts';
import { createClaimMembers } from '../storage/claim-members.ts';
import type { Store } from '../storage/connect.ts';
import { storeClock } from '../storage/store-clock.ts';
import type { ConnectionLimits } from '../transport/connection-limits.ts';
import { createDocumentUrl } from '../transport/document-url.ts';
import type { ShutdownOptions } from '../transport/drain.ts';
import { listen } from '../transport/http-server.ts';
import { createLogger } from '../transport/logger.ts';
import { serveMonitoring } from '../transport/monitoring.ts';
import { composeAuthority, type LiveAuthority } from './authority.ts';
import { createClientActivity } from './client-activity.ts';
import { type Data, openData } from './data.ts';
import { composeDocuments, type GivenDocuments } from './documents.ts';
import { serveHttp } from './http.ts';
import { composeImports } from './imports.ts';
import type { LiveMeans } from './live-needs.ts';
import { createMetrics } from './metrics.ts';
import { createMonitored } from './monitored.ts';
import { startReconciliation } from './reconciliation.ts';
import { createClosing, type Runtime } from './runtime.ts';
import { composeSigning } from './signing.ts';
import type { OpenStore } from './store.ts';
import { watchStranded } from './stranded.ts';
import { NODE_TIME_ZONE, tellOutdatedOffsets } from './time-zone-data.ts';
import { composeTracing } from './tracing.ts';
import type { WorkersAuthority } from './transmission.ts';
import { composeWebhooks } from './webhooks.ts';
import { startWorker } from './worker.ts';
import { createWorkers } from './workers.ts';

/** A running service. */
export interface App {
  /** The address that the service listens on, without a trailing slash; null for a worker. */
  readonly url: string | null;
  readonly store: Store;
  readonly tenants: Data['tenants'];
  readonly manageKeys: ManageKeys;
  readonly keys: Data['keys'];
  readonly firstStart: FirstStart;
  /** Number of open subscriptions in this runtime. */
  listeners(): number;
  /** Returns the number of this process's claims, and what they cost; null without a worker. */
  claimCounts(): ClaimCounts | null;
  /** Resolves when the browser for PDFs is warm or has failed to start. */
  readonly warm: Promise<void>;
  /** Logs a failure that the service cannot survive as fatal, and calls `onFatal`. */
  fail(error: Error): void;
  /**
   * Answers the requests in flight (`config.shutdown`), waits up to 5 s for all work under way, and then closes every
   * part.
   * @param options.patient see {@link ShutdownOptions}; default false
   */
  close(options?: Partial<Pick<ShutdownOptions, 'patient'>>): Promise<void>;
}

/** Parts that replace those built from the configuration. */
export interface AppParts extends GivenDocuments {
  readonly log?: Logger;
  /** Opened by `openStore`. The caller closes it. */
  readonly store?: OpenStore;
  /** Whether the MongoDB client of a store that the service opens emits command events. */
  readonly monitorCommands?: boolean;
  /** Replaces the configured live authority. The caller closes it. */
  readonly live?: WorkersAuthority & Pick<LiveAuthority, 'callbackSecret'>;
  /** Replaces what the settings provide for live invoices. */
  readonly means?: LiveMeans;
  /** Judges new passwords. The caller closes it. */
  readonly passwords?: PasswordJudge;
  /** Called once, after the log entry, when the engine has ended or a thread has ended and cannot be restarted. */
  readonly onFatal?: () => void;
}

/**
 * Builds the service from its configuration and starts it.
 * @throws when the store, the address or a file under DATA_DIR cannot be used; the message says which and why
 */
export async function startApp(config: Config, parts: AppParts = {}): Promise<App> {
  const log = parts.log ?? createLogger(config.logLevel);
  let failed = false;
  const runtime: Runtime = {
    config,
    log,
    closing: createClosing(log),
    fail(err) {
      if (failed) return;
      failed = true;
      log.fatal({ err }, 'the service cannot continue');
      parts.onFatal?.();
    },
  };
  try {
    return await build(runtime, parts);
  } catch (error) {
    await runtime.closing.close({ delayMs: 0, graceMs: 0, patient: false });
    throw error;
  }
}

/** Returns how many connections this process accepts, by the settings and the system's limit of open files. */
function connectionLimits({ connections, trustedProxies }: Config): ConnectionLimits {
  const openFiles = openFilesLimit();
  return {
    ...mostConnections(openFiles, connections, trustedProxies > 0),
    isShort: () => openFiles !== null && isShortOfFiles(openFiles, reservedFiles(openFiles)),
  };
}

async function build(runtime: Runtime, parts: AppParts): Promise<App> {
  const { config, log, closing, fail } = runtime;
  // Before any thread is started: this call waits for all threads.
  openFilesLimit();
  const tracing = await composeTracing(runtime);
  const metrics = createMetrics({ exemplars: tracing.counts !== null });
  // One after the other: a failure ends the process, which must not happen while another part writes its file.
  const data = await openData(runtime, metrics, parts);
  metrics.connections(data.store.pool);
  if (tracing.counts) metrics.spans(tracing.counts);
  const { store, tenants, manageKeys, invoices, feed, logFailure, alone } = data;
  const signing = await composeSigning(runtime, data, { count: metrics.signatures, onKeys: metrics.watch });
  const hasAuthority = parts.live !== undefined || config.authority !== null;
  const means: LiveMeans = parts.means ?? { hasAuthority, signers: signing.liveSigners };
  tellOutdatedOffsets(log, means.timeZone ?? NODE_TIME_ZONE, new Date());
  const clients = createClientActivity();
  const members = createClaimMembers(store.db);
  const clock = storeClock(store.client);
  const jobs = await createJobs({
    db: store.db,
    invoices,
    members,
    clock,
    soleWorker: alone,
    // Without an authority, live lanes are not run: each run would fail.
    lanes: means.hasAuthority ? LANE_NAMES : LANE_NAMES.filter((lane) => !LIVE_LANES.some((each) => each === lane)),
    isAnswering: clients.isRecent,
    report: (message, err) => logFailure('error', message, err),
  });
  metrics.claims(jobs.claimCounts);
  const documents = composeDocuments(runtime, signing, parts);
  const live = parts.live ?? (await composeAuthority(runtime, documents, metrics, tracing));
  const mailer = createMailer({ ...config.mail, outbox: join(config.dataDir, 'outbox'), log });
  closing.add(() => mailer.close());
  closing.addWork(jobs.stop);

  // Listens before the first job runs, because documents contain the address.
  const server =
    config.role === 'worker'
      ? null
      : await listen(config.port, config.host, { idle: config.keepAliveMs }, connectionLimits(config));
  if (server) closing.addServer(server);
  const url = server?.url ?? null;
  const publicUrl = config.publicUrl ?? url ?? localAddress(config.host, config.port);
  const documentUrl = createDocumentUrl(publicUrl, data.clientSecrets);
  const webhooks = composeWebhooks({
    ...data,
    config,
    tracing,
    metrics,
    documentUrl,
    agenda: jobs.agenda,
    notifier: mailer,
  });
  closing.addWork(webhooks.stop);

  if (live) {
    metrics.transmission(data.authorityState);
    metrics.differences(createDifferenceRepository(store.db));
  }
  if (!means.hasAuthority || means.signers() !== null) await watchStranded(runtime, data, metrics, means);
  const demand = createDocumentDemand(invoices, jobs.queue, feed, (err) =>
    logFailure('warn', 'a PDF that was asked for could not be made due', err),
  );
  const imports = composeImports(runtime, data, documentUrl);
  // Not started in a worker: no client waits there, and each reader of the feed costs as much as the changes of all
  // invoices.
  if (server) await feed.start();
  const { warm } =
    config.role === 'api'
      ? { warm: Promise.resolve() }
      : await startWorker(runtime, {
          data,
          jobs,
          signing,
          documents,
          mailer,
          demand,
          webhooks,
          imports,
          means,
          publicUrl,
          live,
          tracing,
        });
  const workers = createWorkers(members, config.role !== 'api', clock);
  metrics.workers(workers);
  const monitored = createMonitored(closing, data.installation, data.health, workers);
  if (config.metricsPort !== null) {
    const monitoring = await serveMonitoring(config.metricsPort, config.host, {
      exposition: metrics.exposition,
      ...monitored,
    });
    closing.add(monitoring.close);
    log.info(`metrics at ${monitoring.url}/metrics`);
  }
  if (config.role !== 'api') await startReconciliation(runtime, { data, jobs, publicUrl }, live?.authority ?? null);
  if (server) {
    const served = {
      data,
      jobs,
      documents,
      mailer,
      demand,
      webhooks,
      documentUrl,
      imports,
      metrics,
      tracing,
      live,
      means,
      publicUrl,
      clients,
      monitored,
      workers,
    };
    await serveHttp(runtime, server, { ...served, accountMailer: mailer, passwords: parts.passwords ?? null });
  }
  // Last, so that nothing can fail between the creation of credentials and their output.
  const firstStart = await prepareInstallation(
    tenants,
    data.installation,
    async (grants) => (await invite(data.people, { email: null, grants, invitedBy: null }, publicUrl)).link,
    store.kind !== 'server',
    config.installationName,
  );
  return {
    url,
    store,
    tenants,
    manageKeys,
    firstStart,
    warm,
    fail,
    keys: data.keys,
    listeners: () => feed.listeners() + webhooks.listeners(),
    claimCounts: jobs.claimCounts,
    close: ({ patient = false } = {}) => closing.close({ ...config.shutdown, patient }),
  };
}
