import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { createContentExaminer } from '../adapters/authority/content-examiner.ts';
import { createMockAuthority } from '../adapters/authority/mock-authority.ts';
import { createMailer } from '../adapters/email/mailer.ts';
import { undrawableCharacters } from '../adapters/pdf/fonts.ts';
import { createPdfRenderer } from '../adapters/pdf/pdf-renderer.ts';
import { createInvoiceWriter } from '../adapters/ubl/invoice-writer.ts';
import { createDocumentVerifier } from '../adapters/xades/document-verifier.ts';
import type { Config } from '../config.ts';
import { createAuthenticate } from '../domain/api-key/authenticate.ts';
import type { ManageKeys } from '../domain/api-key/manage-keys.ts';
import { createWatchRevocations } from '../domain/api-key/watch-revocations.ts';
import { type FirstStart, prepareInstallation } from '../domain/installation/first-start.ts';
import { createClientSecrets } from '../domain/invoice/client-secret.ts';
import { createCreateInvoice, refuseReusedKey, requireIssuer } from '../domain/invoice/create-invoice.ts';
import { createFindByNumber } from '../domain/invoice/find-by-number.ts';
import { createListInvoices } from '../domain/invoice/list-invoices.ts';
import { createNumbering } from '../domain/invoice/numbering.ts';
import { createPipeline } from '../domain/invoice/pipeline.ts';
import { type Authority, NotReceived, type PdfRenderer } from '../domain/invoice/ports.ts';
import { createReadDocument } from '../domain/invoice/read-document.ts';
import { createReadInvoice } from '../domain/invoice/read-invoice.ts';
import { createReadInvoices } from '../domain/invoice/read-invoices.ts';
import { createResendEmail } from '../domain/invoice/resend-email.ts';
import { createRevokeDocumentUrls } from '../domain/invoice/revoke-document-urls.ts';
import type { PipelineReport } from '../domain/invoice/stages/stage.ts';
import { createInvoiceWarnings } from '../domain/invoice/unprintable-warnings.ts';
import { createValidateInvoice } from '../domain/invoice/validate-invoice.ts';
import { createVerifyPublicly } from '../domain/invoice/verify-publicly.ts';
import { createWatchInvoice } from '../domain/invoice/watch-invoice.ts';
import { requireSecretKey } from '../domain/principal.ts';
import type { TenantRepository } from '../domain/tenant/ports.ts';
import { createVerifyDocument } from '../domain/verification/verify-document.ts';
import { createGate } from '../graphql/gate.ts';
import { readOperationList } from '../graphql/operation-list.ts';
import { createJobs } from '../jobs/agenda.ts';
import { startHousekeeping } from '../jobs/housekeeping.ts';
import type { Store } from '../storage/connect.ts';
import { createDocumentStore } from '../storage/documents.ts';
import { createStoreHealth } from '../storage/health.ts';
import { ensureIndexes } from '../storage/indexes.ts';
import { createInvoiceFeed } from '../storage/invoice-feed.ts';
import { createInvoiceRepository } from '../storage/invoices.ts';
import { createLogoStore } from '../storage/logos.ts';
import { createOrphanCollector } from '../storage/orphan-documents.ts';
import { createRateLimiter } from '../storage/rate-limiter.ts';
import { createSubmissionLedger } from '../storage/submission-ledger.ts';
import { type Outage, unavailability } from '../storage/unavailable.ts';
import { createDocumentUrl } from '../transport/document-url.ts';
import type { Leave } from '../transport/drain.ts';
import { createEventStreams } from '../transport/event-stream.ts';
import { type HttpServer, listen } from '../transport/http-server.ts';
import { createLogger } from '../transport/logger.ts';
import { operatorPages } from '../transport/operations.ts';
import { createServer } from '../transport/server.ts';
import { accountOf } from './account.ts';
import { administrationOf } from './administration.ts';
import { openMasterKey } from './master-key.ts';
import { createMetrics } from './metrics.ts';
import { createSignedRenderer } from './signed-renderer.ts';
import { NO_SIGNING, openSigning, watchCertificates } from './signing.ts';
import { type OpenStore, openStore, prepareDataFolder } from './store.ts';
import { composeWebhooks, type Tell } from './webhooks.ts';

/** The test environment's schedule: five attempts within 15 s (design, section 6). */
export const TEST_TRANSMIT_SCHEDULE = [0, 1000, 2000, 4000, 6000] as const;
const DRAIN_MS = 5000;
/** How long any part may take to close; the driver's may wait for a server that is gone. */
const CLOSE_MS = DRAIN_MS + 3000;

/** A running service. */
export interface App {
  /** Where it is reached, without a trailing slash; null for a worker. */
  readonly url: string | null;
  readonly store: Store;
  readonly tenants: TenantRepository;
  readonly manageKeys: ManageKeys;
  readonly firstStart: FirstStart;
  /** How many subscriptions are open in this process. */
  listeners(): number;
  /** Resolves when the browser for PDFs is warm, or has failed to start. */
  readonly warm: Promise<void>;
  /** Logs what the service can't go on with as fatal and calls `onFatal`. */
  fail(error: Error): void;
  /**
   * Answers the requests in flight (`config.shutdown`), then lets jobs finish (5 s at most) and leaves nothing running.
   * @param options.patient see {@link Leave}; false unless given
   */
  close(options?: Partial<Pick<Leave, 'patient'>>): Promise<void>;
}

/** Parts that a caller may bring instead of the ones that the configuration asks for. */
export interface AppParts {
  readonly log?: Logger;
  /** Not closed by the service. */
  readonly store?: OpenStore;
  /** Whether its own store's client tells of its commands. */
  readonly monitorCommands?: boolean;
  readonly renderer?: PdfRenderer & { warm(): Promise<void>; close(): Promise<void> };
  /** Is told once, after the log, of what the service can't go on with: its engine is dead, or a thread can't be started again. */
  readonly onFatal?: () => void;
}

/**
 * Builds the service once, from its configuration, and starts it.
 * @throws when the store, the address or a file under DATA_DIR can't be had; the message says which and why
 */
export async function startApp(config: Config, parts: AppParts = {}): Promise<App> {
  const log = parts.log ?? createLogger(config.logLevel);
  const closers: Closers = { server: null, others: [] };
  let failed = false;
  const fail = (err: Error) => {
    if (failed) return;
    failed = true;
    log.fatal({ err }, 'the service can not go on');
    parts.onFatal?.();
  };
  try {
    return await build(config, parts, log, closers, fail);
  } catch (error) {
    await closeAll(closers, { delayMs: 0, graceMs: 0, patient: false }, log);
    throw error;
  }
}

/** What ends the parts of a service: the server first, while all that its answers need is there, then the others, the newest first. */
interface Closers {
  server: HttpServer | null;
  readonly others: (() => Promise<unknown>)[];
}

async function closeAll({ server, others }: Closers, leave: Leave, log: Logger): Promise<void> {
  await server?.close(leave);
  for (const each of others.splice(0).reverse()) {
    await Promise.race([each(), tooLate(CLOSE_MS)]).catch((err: unknown) =>
      log.warn({ err }, 'something did not close'),
    );
  }
}

async function build(
  config: Config,
  parts: AppParts,
  log: Logger,
  closing: Closers,
  fail: (error: Error) => void,
): Promise<App> {
  const closers = closing.others;
  await prepareDataFolder(config);
  // One after the other: what fails must not end the process while another writes its file.
  const store = parts.store ?? (await openOwnStore(config, log, closers, fail, parts.monitorCommands));
  const { db } = store;
  const { tenants, manageKeys, installation } = administrationOf(store);
  const masterKey = await openMasterKey(config, installation);
  const signing = config.role === 'api' ? NO_SIGNING : await openSigning(config);
  const endWatch = watchCertificates(signing, log);
  closers.push(async () => endWatch());
  await ensureIndexes(db);

  const health = createStoreHealth(db, {
    began: (outage, reason) => log.error({ outage, reason }, OUTAGES[outage]),
    ended: (outage, seconds) => log.info({ outage, seconds }, 'the store takes writes again'),
  });
  closers.push(() => health.close());
  /** An outage of the store is told once, not by everything that it keeps from its work. */
  const tell = (level: 'warn' | 'error', message: string, err: unknown) =>
    log[health.noted(err) ? 'debug' : level]({ err }, message);

  const metrics = createMetrics();
  metrics.watch(signing.keys);
  const invoices = metrics.observed(createInvoiceRepository(db));
  const documents = createDocumentStore(db);
  const clientSecrets = createClientSecrets(masterKey);
  // Whoever started the engine serves alone: the only worker, and the only one that counts requests. A demo may have joined another's.
  const alone = store.kind === 'own engine';

  const feed = createInvoiceFeed(db, (err) => tell('warn', 'the change stream was lost and is opened again', err));
  closers.push(() => feed.close());
  const jobs = await createJobs(db, invoices, (message, err) => tell('error', message, err), alone);

  const renderer =
    parts.renderer ??
    createSignedRenderer(
      createPdfRenderer({
        executablePath: config.chromiumPath ?? undefined,
        cacheDir: join(config.dataDir, 'chromium'),
        log,
        onFatal: fail,
      }),
      signing.keyOf,
      fail,
    );
  closers.push(() => renderer.close());
  const invoiceWarnings = createInvoiceWarnings(undrawableCharacters);
  const writer = createInvoiceWriter(fail);
  closers.push(() => writer.close());
  const verifier = createDocumentVerifier({ onFatal: fail });
  closers.push(() => verifier.close());
  // On a thread of its own: what clients have verified holds up no invoice.
  const verifyForClients = createDocumentVerifier({ onFatal: fail });
  closers.push(() => verifyForClients.close());
  const examiner = createContentExaminer(fail);
  closers.push(() => examiner.close());
  const mailer = createMailer({ ...config.mail, outbox: join(config.dataDir, 'outbox'), log });
  closers.push(async () => mailer.close());
  // Before what the running jobs need.
  closers.push(() => jobs.stop(DRAIN_MS));
  const mockAuthority = createMockAuthority({
    ledger: createSubmissionLedger(db),
    verify: (document) => verifier.verify(document),
    examineContent: examiner.examine,
  });

  // The address is known before the first job runs: documents carry it.
  const server = config.role === 'worker' ? null : await listen(config.port, config.host);
  closing.server = server;
  const url = server?.url ?? null;
  const publicUrl = config.publicUrl ?? url ?? `http://${config.host}:${config.port}`;
  const documentUrl = createDocumentUrl(publicUrl, clientSecrets);
  const webhooks = composeWebhooks({
    ...{ config, store, invoices, tenants, masterKey, documentUrl, tell, alone },
    agenda: jobs.agenda,
    notifier: mailer,
  });
  closers.push(() => webhooks.stop(DRAIN_MS));

  const pipeline = createPipeline({
    invoices,
    documents,
    queue: jobs.queue,
    numbering: createNumbering(invoices),
    writer,
    signerOf: signing.signerOf,
    authorityOf: (environment) => (environment === 'test' ? mockAuthority : noLiveAuthority),
    renderer,
    logos: createLogoStore(db),
    mailer,
    verifyUrlOf: (invoice) => `${publicUrl}/verify/${invoice.id}`,
    transmitSchedule: (environment) => (environment === 'test' ? TEST_TRANSMIT_SCHEDULE : config.dgiRetrySchedule),
    publish: webhooks.publish,
    report: (event) => logPipeline(log, event, health.noted(event.error)),
  });
  await feed.start();
  let warm = Promise.resolve();
  if (config.role !== 'api') {
    await webhooks.start();
    await jobs.startWorker((invoiceId) => pipeline.run(invoiceId));
    closers.push(collectOrphans(db, log, tell));
    // Neither the browser nor the verifier's thread should start with the first invoice.
    const warmVerifier = verifier
      .verify(new Uint8Array())
      .catch((err) => log.debug({ err }, 'the verifier is not warm'));
    warm = Promise.all([renderer.warm(), warmVerifier]).then(() => undefined);
  }

  if (server) {
    const { operations: list } = config.graphql;
    const operations = list === null ? null : await readOperationList(list);
    const readInvoice = createReadInvoice(invoices, clientSecrets);
    const limiter = createRateLimiter(config.rateLimits, alone ? null : db);
    const revocations = createWatchRevocations(tenants, (err) => tell('warn', 'open streams were not checked', err));
    closers.push(async () => revocations.close());
    const streams = createEventStreams({
      follow: revocations.follow,
      report: (err) => tell('warn', 'a stream has failed', err),
    });
    metrics.streams(streams.count);
    const koa = createServer({
      log,
      streams,
      authenticate: createAuthenticate(tenants, clientSecrets, config.sites),
      limiter,
      useCases: {
        createInvoice: createCreateInvoice(invoices, jobs.queue, clientSecrets, invoiceWarnings, (entry) =>
          log.info(entry, 'an invoice was created with warnings'),
        ),
        validateInvoice: createValidateInvoice(invoices, writer, invoiceWarnings),
        invoiceWarnings,
        readInvoice,
        readInvoices: createReadInvoices(invoices),
        findByNumber: createFindByNumber(invoices),
        listInvoices: createListInvoices(invoices),
        watchInvoice: createWatchInvoice(readInvoice, feed),
        ...webhooks.useCases,
        ...accountOf(tenants, manageKeys, createLogoStore(db), log),
        verifyDocument: createVerifyDocument(verifyForClients.verify),
        resendEmail: createResendEmail(invoices, jobs.queue, mailer),
        revokeDocumentUrls: createRevokeDocumentUrls(invoices),
        documentUrl,
      },
      verifyPublicly: createVerifyPublicly(invoices),
      readDocument: createReadDocument(invoices, documents, feed, clientSecrets),
      refuseReusedKey: (principal, key) => refuseReusedKey(invoices, requireSecretKey(principal), key),
      requireIssuer,
      unavailable: (failure) => {
        health.noted(failure);
        return unavailability(failure);
      },
      graphql: {
        gate: createGate({ ...config.graphql, operations }),
        graphiql: config.graphql.graphiql,
        ran: metrics.operation,
      },
      operations: await operatorPages(jobs.agenda, metrics.exposition, () => installation.operatorHash()),
      measured: metrics.request,
      ready: async () => (server.closing ? 'the service is shutting down' : health.trouble()),
      trustedProxies: config.trustedProxies,
    });
    server.serve(koa.callback(), { log, limiter, streams });
  }
  // Last, so that nothing can fail between making credentials and showing them.
  const firstStart = await prepareInstallation(tenants, installation, store.kind !== 'server');
  return {
    url,
    store,
    tenants,
    manageKeys,
    firstStart,
    listeners: () => feed.listeners() + webhooks.listeners(),
    warm,
    fail,
    close: ({ patient = false } = {}) => closeAll(closing, { ...config.shutdown, patient }, log),
  };
}

async function tooLate(ms: number): Promise<never> {
  await sleep(ms, undefined, { ref: false });
  throw new Error(`it took more than ${ms} ms`);
}

/** Documents that were stored and never recorded are removed now and then. @returns ends it */
function collectOrphans(db: Store['db'], log: Logger, tell: Tell): () => Promise<void> {
  const collector = createOrphanCollector(db);
  return startHousekeeping(
    async () => {
      const removed = await collector.collect(new Date());
      if (removed > 0) log.info({ removed }, 'documents that no invoice refers to were removed');
    },
    (err) => tell('warn', 'documents that no invoice refers to could not be removed', err),
  );
}

async function openOwnStore(
  config: Config,
  log: Logger,
  closers: (() => Promise<unknown>)[],
  onFailure: (error: Error) => void,
  monitorCommands = false,
): Promise<OpenStore> {
  if (config.mongodbUrl !== null) log.info('connecting to the server of MONGODB_URL, which may take 10 s');
  const store = await openStore(config, { join: false, monitorCommands, onFailure });
  closers.push(() => store.close());
  return store;
}

const OUTAGES: Readonly<Record<Outage, string>> = {
  away: 'the store is away: nothing can be read or stored until it is back',
  full: 'the store has no room left: nothing can be stored until there is some',
};

function logPipeline(log: Logger, { level, message, error, ...fields }: PipelineReport, isOutage: boolean): void {
  log[isOutage ? 'debug' : level]({ ...fields, ...(error !== undefined && { err: error }) }, message);
}

/** Live keys can not be made without a live authority; should an invoice get here all the same, nothing is sent and it is known. */
const noLiveAuthority: Authority = {
  submit: () => Promise.reject(new NotReceived('no live authority is configured')),
  lookUp: () => Promise.resolve(null),
};
