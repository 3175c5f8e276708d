import { join } from 'node:path';
import type { Logger } from 'pino';
import { createMailer } from '../adapters/email/mailer.ts';
import type { Config } from '../config.ts';
import type { ManageKeys } from '../domain/api-key/manage-keys.ts';
import { type FirstStart, prepareInstallation } from '../domain/installation/first-start.ts';
import type { TenantRepository } from '../domain/tenant/ports.ts';
import { createJobs } from '../jobs/agenda.ts';
import type { Store } from '../storage/connect.ts';
import { createDocumentUrl } from '../transport/document-url.ts';
import type { Leave } from '../transport/drain.ts';
import { listen } from '../transport/http-server.ts';
import { createLogger } from '../transport/logger.ts';
import { openData } from './data.ts';
import { type ClosableRenderer, composeDocuments } from './documents.ts';
import { serveHttp } from './http.ts';
import { createMetrics } from './metrics.ts';
import { createClosing, DRAIN_MS, type Runtime } from './runtime.ts';
import { composeSigning } from './signing.ts';
import type { OpenStore } from './store.ts';
import { composeWebhooks } from './webhooks.ts';
import { startWorker } from './worker.ts';

/** A running service. */
export interface App {
  /** Where it is reached, without a trailing slash; null for a worker. */
  readonly url: string | null;
  readonly store: Store;
  readonly tenants: TenantRepository;
  readonly manageKeys: ManageKeys;
  readonly firstStart: FirstStart;
  /** How many subscriptions are open in this runtime. */
  listeners(): number;
  /** Resolves when the browser for PDFs is warm, or has failed to start. */
  readonly warm: Promise<void>;
  /** Logs a failure that the service cannot survive as fatal, and calls `onFatal`. */
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
  /** Whether the client of the service's own store reports its commands. */
  readonly monitorCommands?: boolean;
  readonly renderer?: ClosableRenderer;
  /** Called once, after the log entry, when the service cannot go on: its engine ended, or a thread cannot be started again. */
  readonly onFatal?: () => void;
}

/**
 * Builds the service once, from its configuration, and starts it.
 * @throws when the store, the address or a file under DATA_DIR can't be had; the message says which and why
 */
export async function startApp(config: Config, parts: AppParts = {}): Promise<App> {
  const log = parts.log ?? createLogger(config.logLevel);
  let failed = false;
  const runtime: Runtime = {
    ...{ config, log },
    closing: createClosing(log),
    fail(err) {
      if (failed) return;
      failed = true;
      log.fatal({ err }, 'the service can not go on');
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

async function build(runtime: Runtime, parts: AppParts): Promise<App> {
  const { config, log, closing, fail } = runtime;
  const metrics = createMetrics();
  // One after the other: what fails must not end the process while another writes its file.
  const data = await openData(runtime, metrics, parts);
  const { store, tenants, manageKeys, invoices, feed, tell, alone } = data;
  const signing = await composeSigning(runtime);
  metrics.watch(signing.keys);
  const jobs = await createJobs(store.db, invoices, (message, err) => tell('error', message, err), alone);
  const documents = composeDocuments(runtime, signing, parts.renderer);
  const mailer = createMailer({ ...config.mail, outbox: join(config.dataDir, 'outbox'), log });
  closing.add(() => mailer.close());
  // Registered after the parts that running jobs need, so that it closes before them.
  closing.add(() => jobs.stop(DRAIN_MS));

  // The address is known before the first job runs: documents carry it.
  const server = config.role === 'worker' ? null : await listen(config.port, config.host);
  if (server) closing.addServer(server);
  const url = server?.url ?? null;
  const publicUrl = config.publicUrl ?? url ?? `http://${config.host}:${config.port}`;
  const documentUrl = createDocumentUrl(publicUrl, data.clientSecrets);
  const webhooks = composeWebhooks({ ...data, config, documentUrl, agenda: jobs.agenda, notifier: mailer });
  closing.add(() => webhooks.stop(DRAIN_MS));

  await feed.start();
  const { warm } =
    config.role === 'api'
      ? { warm: Promise.resolve() }
      : await startWorker(runtime, { data, jobs, signing, documents, mailer, webhooks, publicUrl });
  if (server) await serveHttp(runtime, server, { data, jobs, documents, mailer, webhooks, documentUrl, metrics });
  // Last, so that nothing can fail between making credentials and showing them.
  const firstStart = await prepareInstallation(tenants, data.installation, store.kind !== 'server');
  return {
    ...{ url, store, tenants, manageKeys, firstStart, warm, fail },
    listeners: () => feed.listeners() + webhooks.listeners(),
    close: ({ patient = false } = {}) => closing.close({ ...config.shutdown, patient }),
  };
}
