import type { ConditionsNotifier } from '../domain/conditions/tell-owners.ts';
import type { DocumentDemand } from '../domain/invoice/document-demand.ts';
import type { Mailer } from '../domain/invoice/email.ts';
import { createSumWaiting } from '../domain/invoice/periods/sum-waiting.ts';
import { createPipeline, type Pipeline } from '../domain/invoice/pipeline.ts';
import { LEASE_MS, type PipelineReport } from '../domain/invoice/stages/stage.ts';
import { every } from '../domain/kit/every.ts';
import { moroccanYear } from '../domain/morocco/time.ts';
import { createEraseTenant } from '../domain/tenant-data/erase-tenant.ts';
import type { Tracing } from '../domain/tracing.ts';
import type { Jobs } from '../jobs/agenda.ts';
import { rescheduleAfterSetBack } from '../jobs/reschedule.ts';
import { createErasureStore } from '../storage/erasure.ts';
import { createOrphanCollector } from '../storage/orphan-documents.ts';
import { createSeriesTurns } from '../storage/series-turns.ts';
import { storeClock } from '../storage/store-clock.ts';
import type { Data } from './data.ts';
import type { Documents } from './documents.ts';
import type { Imports } from './imports.ts';
import type { LiveMeans } from './live-needs.ts';
import type { Runtime } from './runtime.ts';
import type { Signing } from './signing.ts';
import { tellOwners } from './tell-owners.ts';
import { composeTransmission, type Transmission, type WorkersAuthority } from './transmission.ts';
import type { Webhooks } from './webhooks.ts';

/** Delays before the transmission attempts in the test environment: five attempts within 15 s (docs/decisions/0009). */
export const TEST_TRANSMIT_SCHEDULE = [0, 1000, 2000, 4000, 6000] as const;

/** Pause between two sums of waiting documents, milliseconds. */
const SUM_WAITING_MS = 2000;
/** Time from the start of a worker to its first housekeeping, and pause between two runs, milliseconds. */
const [FIRST_HOUSEKEEPING_MS, HOUSEKEEPING_MS] = [60_000, 600_000];

export interface WorkerParts {
  readonly data: Data;
  readonly jobs: Jobs;
  readonly signing: Signing;
  readonly documents: Documents;
  readonly mailer: Mailer & ConditionsNotifier;
  /** Reports which documents the requests of this process wait for. */
  readonly demand: Pick<DocumentDemand, 'isAwaited'>;
  readonly webhooks: Webhooks;
  readonly imports: Imports;
  readonly means: LiveMeans;
  /** Null if no live authority is configured. */
  readonly live: WorkersAuthority | null;
  /** The address of the service for clients, without a trailing slash. Documents contain it. */
  readonly publicUrl: string;
  readonly tracing: Tracing;
}

/**
 * Starts the background work of this runtime: the pipeline's stages, PDFs in idle time, webhook deliveries, imports of
 * files, and the removal of documents that no invoice refers to.
 * @returns `warm`, which resolves when the browser is warm or has failed to start
 */
export async function startWorker(runtime: Runtime, parts: WorkerParts): Promise<{ readonly warm: Promise<void> }> {
  const { data, jobs, documents, webhooks } = parts;
  const transmission = await composeTransmission(runtime, data, documents, parts.live, jobs.workers);
  const pipeline = composePipeline(runtime, parts, transmission);
  await webhooks.start();
  const { lane } = transmission;
  if (lane) {
    // Started first, because no live invoice may be sent without the shared state.
    await lane.start();
    runtime.closing.add(lane.stop);
  }
  await jobs.startWorker(pipeline, lane);
  parts.imports.start(parts);
  runtime.closing.add(sumWaiting(data));
  runtime.closing.add(collectOrphans(runtime, data));
  runtime.closing.add(sweepErasures(runtime, data));
  runtime.closing.add(tellOwners(data, parts.mailer));
  runtime.closing.add(
    rescheduleAfterSetBack({
      kinds: [webhooks.reschedule, () => data.invoices.reschedule(storeClock(data.store.client)(), LEASE_MS)],
      tell: (changed, byMs) =>
        runtime.log.warn({ byMs, changed }, 'the clock was set back; work that would have waited is due earlier'),
      fail: (err) =>
        data.logFailure('warn', 'whether work waits because of a clock that was ahead could not be found out', err),
    }),
  );
  // Warmed up now, so that the first invoice does not wait for the browser.
  return { warm: documents.renderer.warm() };
}

function composePipeline(
  { config, log }: Runtime,
  { data, jobs, signing, documents, mailer, demand, webhooks, publicUrl, tracing }: WorkerParts,
  { authorityOf, gateOf, checkClearedOf }: Transmission,
): Pipeline {
  const { invoices, logos, health } = data;
  return createPipeline({
    invoices,
    logos,
    mailer,
    tracing,
    isErased: data.tenants.isErased,
    documents: data.documents,
    queue: jobs.queue,
    turns: createSeriesTurns(data.store.db, (err) =>
      data.logFailure('warn', 'the turns at a series of numbers cannot be taken', err),
    ),
    writer: documents.writer,
    signerOf: signing.signerOf,
    authorityOf,
    gateOf,
    checkCleared: (cleared, sent, invoice) => checkClearedOf(invoice.environment)(cleared, sent, invoice),
    renderer: documents.renderer,
    isAwaited: demand.isAwaited,
    verifyUrlOf: (invoice) => `${publicUrl}/verify/${invoice.id}`,
    transmitSchedule: (environment) => (environment === 'test' ? TEST_TRANSMIT_SCHEDULE : config.dgiRetrySchedule),
    publish: webhooks.publish,
    report({ level, message, error, ...fields }: PipelineReport) {
      log[health.noteFailure(error) ? 'debug' : level](
        { ...fields, ...(error !== undefined && { err: error }) },
        message,
      );
    },
  });
}

/** Sums documents that no event brings into the sums. @returns a function that stops it */
function sumWaiting({ periodSums, logFailure }: Data): () => Promise<void> {
  return every(SUM_WAITING_MS, createSumWaiting(periodSums), (err) =>
    logFailure('warn', 'documents that wait could not be summed', err),
  );
}

/** Resumes erasures, and removes legal documents whose retention has ended. @returns a function that stops it */
function sweepErasures({ config, log }: Runtime, { store, logFailure }: Data): () => Promise<void> {
  const end = new AbortController();
  const { sweep } = createEraseTenant({
    store: createErasureStore(store.db),
    retentionYears: config.retentionYears,
    alone: false,
    now: () => new Date(),
    year: () => moroccanYear(new Date()),
    signal: end.signal,
  });
  const stop = every(
    HOUSEKEEPING_MS,
    async () => {
      await sweep((expired) => {
        const invoices = expired.map(({ id }) => id);
        const tenants = [...new Set(expired.map(({ tenantId }) => tenantId))];
        log.info(
          { invoices, tenants },
          'the time of these legal documents of erased tenants has passed: removing them',
        );
      });
    },
    (err) => end.signal.aborted || logFailure('warn', 'the erasure of tenants could not go on', err),
    { firstMs: FIRST_HOUSEKEEPING_MS },
  );
  return () => {
    end.abort();
    return stop();
  };
}

/** Removes stored documents that no invoice refers to, at regular intervals. @returns a function that stops it */
function collectOrphans({ log }: Runtime, { store, logFailure }: Data): () => Promise<void> {
  const collector = createOrphanCollector(store.db);
  return every(
    HOUSEKEEPING_MS,
    async () => {
      const removed = await collector.collect(new Date());
      if (removed > 0) log.info({ removed }, 'documents that no invoice refers to were removed');
    },
    (err) => logFailure('warn', 'documents that no invoice refers to could not be removed', err),
    { firstMs: FIRST_HOUSEKEEPING_MS },
  );
}
