import { createClearedCheck } from '../adapters/authority/cleared-document.ts';
import { createMockAuthority } from '../adapters/authority/mock/mock-authority.ts';
import { createReceiptReader } from '../adapters/authority/receipt-reader.ts';
import { softwareKey } from '../adapters/signing-key/software-key.ts';
import { loadTestIdentity } from '../adapters/signing-key/test-identity.ts';
import { createDocumentSigner } from '../adapters/xades/document-signer.ts';
import { type Gate, OPEN_GATE } from '../domain/authority/gate.ts';
import { createLiveGate } from '../domain/authority/live-gate.ts';
import type { Authority } from '../domain/authority/ports.ts';
import { createTransmissionLane, type TransmissionLane } from '../domain/authority/transmission-lane.ts';
import type { CheckCleared } from '../domain/invoice/ports.ts';
import type { Environment } from '../domain/tenant/tenant.ts';
import { storeClock } from '../storage/store-clock.ts';
import { createSubmissionLedger } from '../storage/submission-ledger.ts';
import type { LiveAuthority } from './authority.ts';
import { composePapers } from './authority-papers.ts';
import type { Data } from './data.ts';
import type { Documents } from './documents.ts';
import type { Runtime } from './runtime.ts';

/** The parts of the live authority that workers use. */
export type WorkersAuthority = Pick<LiveAuthority, 'papers' | 'concurrency'> & {
  readonly authority: Authority & Partial<Pick<LiveAuthority['authority'], 'setShare'>>;
};

/**
 * Decides when invoices are sent to which authority. Each function throws for live invoices without a live authority.
 */
export interface Transmission {
  readonly authorityOf: (environment: Environment) => Authority;
  readonly gateOf: (environment: Environment) => Gate;
  readonly checkClearedOf: (environment: Environment) => CheckCleared;
  /** The places of live transmissions; null without a live authority. */
  readonly lane: TransmissionLane | null;
}

type TransmissionData = Pick<Data, 'store' | 'authorityState' | 'invoices' | 'background' | 'logFailure'>;

/**
 * @param live null if no live authority is configured
 * @param workers number of live workers, which share the limits of the authority
 */
export async function composeTransmission(
  { config, log }: Pick<Runtime, 'config' | 'log'>,
  { store, authorityState, invoices, background, logFailure }: TransmissionData,
  documents: Pick<Documents, 'verifier' | 'examiner'>,
  live: WorkersAuthority | null,
  workers: () => number,
): Promise<Transmission> {
  const key = softwareKey(await loadTestIdentity(config.dataDir), true);
  const papers = composePapers(documents.verifier, () => key.certificateChain);
  const mock = createMockAuthority({
    ledger: createSubmissionLedger(store.db, background('submissions')),
    verify: (document) => documents.verifier.verify(document),
    examineContent: documents.examiner.examine,
    signer: createDocumentSigner(key),
    readReceipt: createReceiptReader(papers),
  });
  const gate =
    live &&
    createLiveGate({
      authority: live.authority,
      concurrency: live.concurrency,
      store: authorityState,
      clock: storeClock(store.client),
      workers,
      report: ({ level, message, ...facts }) => log[level](facts, message),
    });
  return {
    authorityOf: byEnvironment<Authority>(mock, live?.authority ?? null),
    gateOf: byEnvironment<Gate>(OPEN_GATE, gate),
    checkClearedOf: byEnvironment(createClearedCheck(papers), live && createClearedCheck(live.papers)),
    lane:
      live &&
      gate &&
      createTransmissionLane({
        gate,
        releaseHeldUp: invoices.releaseHeldUp,
        onTick: () => live.authority.setShare?.(workers()),
        report: (message, error) => logFailure('error', message, error),
      }),
  };
}

/** Returns a function that selects the part of an environment, and never that of the other environment. */
function byEnvironment<T>(ofTest: T, ofLive: T | null): (environment: Environment) => T {
  return (environment) => {
    if (environment === 'test') return ofTest;
    if (ofLive === null) throw new Error('no live authority is configured: set DGI_URL');
    return ofLive;
  };
}
