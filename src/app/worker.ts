import { createClearedCheck } from '../adapters/authority/cleared-document.ts';
import { createMockAuthority } from '../adapters/authority/mock/mock-authority.ts';
import { createReceiptReader, type PaperParts } from '../adapters/authority/receipt-reader.ts';
import { softwareKey } from '../adapters/signing-key/software-key.ts';
import { loadTestIdentity } from '../adapters/signing-key/test-identity.ts';
import { trustOfSignature } from '../adapters/xades/certificate-trust.ts';
import { createDocumentSigner } from '../adapters/xades/document-signer.ts';
import type { Mailer } from '../domain/invoice/email.ts';
import { createNumbering } from '../domain/invoice/numbering.ts';
import { createPipeline, type Pipeline } from '../domain/invoice/pipeline.ts';
import type { PipelineReport } from '../domain/invoice/stages/stage.ts';
import type { Environment } from '../domain/tenant/tenant.ts';
import type { Jobs } from '../jobs/agenda.ts';
import { startHousekeeping } from '../jobs/housekeeping.ts';
import { createOrphanCollector } from '../storage/orphan-documents.ts';
import { createSubmissionLedger } from '../storage/submission-ledger.ts';
import type { LiveAuthority } from './authority.ts';
import type { Data } from './data.ts';
import type { Documents } from './documents.ts';
import type { Runtime } from './runtime.ts';
import type { Signing } from './signing.ts';
import type { Webhooks } from './webhooks.ts';

/** Delays of the transmission attempts in the test environment: five attempts within 15 s (docs/decisions/0029). */
export const TEST_TRANSMIT_SCHEDULE = [0, 1000, 2000, 4000, 6000] as const;

export interface WorkerParts {
  readonly data: Data;
  readonly jobs: Jobs;
  readonly signing: Signing;
  readonly documents: Documents;
  readonly mailer: Mailer;
  readonly webhooks: Webhooks;
  /** null if no live authority is configured. */
  readonly live: Pick<LiveAuthority, 'authority' | 'papers'> | null;
  /** The address of the service for clients, without a trailing slash. Documents contain it. */
  readonly publicUrl: string;
}

/**
 * Starts the background work of this runtime: the pipeline's stages, webhook deliveries, and the removal of documents
 * that no invoice refers to.
 * @returns `warm`, which resolves when the browser and the verifier's thread are warm or have failed to start
 */
export async function startWorker(runtime: Runtime, parts: WorkerParts): Promise<{ readonly warm: Promise<void> }> {
  const { data, jobs, documents, webhooks } = parts;
  const pipeline = await composePipeline(runtime, parts);
  await webhooks.start();
  await jobs.startWorker((invoiceId) => pipeline.run(invoiceId));
  runtime.closing.add(collectOrphans(runtime, data));
  // Started now, so that the first invoice does not wait for the browser or the verifier's thread.
  const warmVerifier = documents.verifier
    .verify(new Uint8Array())
    .catch((err) => runtime.log.debug({ err }, 'the warm-up of the verifier failed'));
  return { warm: Promise.all([documents.renderer.warm(), warmVerifier]).then(() => undefined) };
}

async function composePipeline(
  { config, log }: Runtime,
  { data, jobs, signing, documents, mailer, webhooks, publicUrl, live }: WorkerParts,
): Promise<Pipeline> {
  const { invoices, logos, health } = data;
  const key = softwareKey(await loadTestIdentity(config.dataDir), true);
  const papers: PaperParts = {
    verify: documents.verifier.verify,
    trust: (signature) => trustOfSignature(signature, key.certificateChain),
  };
  const mockAuthority = createMockAuthority({
    ledger: createSubmissionLedger(data.store.db),
    verify: (document) => documents.verifier.verify(document),
    examineContent: documents.examiner.examine,
    signer: createDocumentSigner(key),
    readReceipt: createReceiptReader(papers),
  });
  const clearedCheckOf = byEnvironment(createClearedCheck(papers), live && createClearedCheck(live.papers));
  return createPipeline({
    ...{ invoices, logos, mailer },
    documents: data.documents,
    queue: jobs.queue,
    numbering: createNumbering(invoices),
    writer: documents.writer,
    signerOf: signing.signerOf,
    authorityOf: byEnvironment(mockAuthority, live?.authority ?? null),
    checkCleared: (cleared, sent, invoice) => clearedCheckOf(invoice.environment)(cleared, sent, invoice),
    renderer: documents.renderer,
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

/** Gives what belongs to an environment, and never that of the other one. */
function byEnvironment<T>(ofTest: T, ofLive: T | null): (environment: Environment) => T {
  return (environment) => {
    if (environment === 'test') return ofTest;
    if (ofLive === null) throw new Error('no live authority is configured: set DGI_URL');
    return ofLive;
  };
}

/** Removes stored documents that no invoice refers to, at regular intervals. @returns a function that stops it */
function collectOrphans({ log }: Runtime, { store, logFailure }: Data): () => Promise<void> {
  const collector = createOrphanCollector(store.db);
  return startHousekeeping(
    async () => {
      const removed = await collector.collect(new Date());
      if (removed > 0) log.info({ removed }, 'documents that no invoice refers to were removed');
    },
    (err) => logFailure('warn', 'documents that no invoice refers to could not be removed', err),
  );
}
