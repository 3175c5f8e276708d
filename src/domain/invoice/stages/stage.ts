import type { Gate } from '../../authority/gate.ts';
import type { Authority } from '../../authority/ports.ts';
import type { LogoStore } from '../../tenant/ports.ts';
import type { Environment } from '../../tenant/tenant.ts';
import type { Tracing } from '../../tracing.ts';
import type { CreditKeeping } from '../credit-keeping.ts';
import type { DocumentStore } from '../document-store.ts';
import type { Mailer } from '../email.ts';
import { type Invoice, NEW_WORK } from '../invoice.ts';
import type { Stage } from '../lifecycle.ts';
import type { SeriesTurns } from '../numbering.ts';
import type { CheckCleared, DocumentSigner, InvoiceWriter, PdfRenderer } from '../ports.ts';
import type {
  Claim,
  InvoiceChange,
  InvoiceClaims,
  InvoiceCreation,
  InvoiceReading,
  InvoiceTransitions,
  NextWork,
} from '../repository.ts';
import type { ReservedNumber } from '../series-number.ts';
import type { StageQueue } from '../stage-queue.ts';
import type { StageSpans } from '../stage-spans.ts';

/**
 * Length of a lease, in milliseconds. It is longer than any pause of a healthy worker, which renews it while a stage
 * runs. The lease of a dead worker expires.
 */
export const LEASE_MS = 4000;

/** The parts of the service that the stages need. */
export interface PipelineParts {
  readonly invoices: Pick<InvoiceTransitions, 'change' | 'changeAll'> &
    Pick<InvoiceReading, 'find' | 'highestSerial' | 'awaitingNumber' | 'seriesNumbersOf'> &
    Pick<InvoiceCreation, 'insert'> &
    CreditKeeping &
    Pick<InvoiceClaims, 'renew'>;
  readonly documents: Pick<DocumentStore, 'put' | 'get'>;
  readonly queue: StageQueue;
  readonly turns: SeriesTurns;
  readonly writer: InvoiceWriter;
  /** Returns the signer of an invoice. @throws {SigningFailed} when there is no key for this invoice */
  readonly signerOf: (invoice: Invoice) => DocumentSigner;
  /** Returns the authority. A test invoice never reaches the live authority, and a live one never reaches the mock. */
  readonly authorityOf: (environment: Environment) => Authority;
  readonly gateOf: (environment: Environment) => Gate;
  /** As {@link CheckCleared}, for the authority of the invoice's environment. */
  readonly checkCleared: (cleared: Uint8Array, sent: Uint8Array, invoice: Invoice) => Promise<string | null>;
  readonly renderer: Pick<PdfRenderer, 'render'>;
  readonly logos: LogoStore;
  readonly mailer: Mailer;
  readonly verifyUrlOf: (invoice: Invoice) => string;
  /** Whether the invoice's tenant is erased. Its customers get no mail then. */
  readonly isErased: (tenantId: string) => Promise<boolean>;
  /** Whether a request waits for the invoice's PDF in this process. */
  readonly isAwaited: (invoice: Pick<Invoice, 'id' | 'tenantId'>) => boolean;
  /** Returns the delay before each attempt to transmit, in milliseconds, with one entry for each attempt. */
  readonly transmitSchedule: (environment: Environment) => readonly number[];
  /** Called after each stored status change, so that its event goes to webhooks. Returns at once, never throws. */
  readonly publish: (invoice: Invoice) => void;
  readonly report: (event: PipelineReport) => void;
  /** Records spans; by default nothing is traced. */
  readonly tracing?: Tracing;
}

/** A log entry for operators. */
export interface PipelineReport {
  readonly level: 'info' | 'warn' | 'error';
  readonly invoiceId: string;
  readonly stage: Stage;
  readonly message: string;
  readonly error?: unknown;
}

/** The result of a stage: the claim for the next stage, or null if this run is over. */
export type Step = Claim | null;

/**
 * Runs a stage of a claimed invoice. Expected failures (a refusal, a lost reply) are recorded and the stage is
 * postponed. A stage throws only on a defect or {@link ClaimLost}.
 * @param runOn whether the previous stage ran under the same claim
 */
export type RunStage = (claim: Claim, runOn: boolean) => Promise<Step>;

/** The updates that end a stage. Each throws `ClaimLost` when another worker holds the lease. */
export interface Progress {
  /** Changes the invoice and publishes the events, if there are any. */
  change(claim: Claim, what: InvoiceChange): Promise<Claim>;
  /** Changes several invoices, all or none, and publishes their events. @param reserved numbers of other invoices */
  changeAll(
    changes: readonly (readonly [Claim, InvoiceChange])[],
    reserved?: readonly ReservedNumber[],
  ): Promise<Claim[]>;
  /** Ends this run and schedules the stage again after `delayMs`, as a separate job. */
  putOff(claim: Claim, work: NextWork, delayMs: number, what?: Omit<InvoiceChange, 'work'>): Promise<null>;
  /** Ends this run and wakes nobody. @param inMs the place in its lane: see `InvoiceChange.work` */
  leave(claim: Claim, work: NextWork, inMs: number, what?: Omit<InvoiceChange, 'work'>): Promise<null>;
  /** Ends this run and schedules the next stage as a separate job. */
  handOver(claim: Claim, stage: Stage, what: Omit<InvoiceChange, 'work'>): Promise<null>;
}

export function createProgress({ invoices, queue, publish }: PipelineParts, spans: StageSpans): Progress {
  async function change(claim: Claim, what: InvoiceChange): Promise<Claim> {
    const changed = await invoices.change(claim, what, LEASE_MS);
    spans.changed(claim, what, changed);
    if (what.events) publish(changed.invoice);
    return changed;
  }

  const putOff: Progress['putOff'] = async (claim, work, delayMs, what = {}) => {
    const { invoice } = await change(claim, { ...what, work: { ...work, in: delayMs, keep: false } });
    void queue.enqueue(invoice, delayMs);
    return null;
  };

  return {
    change,
    async changeAll(changes, reserved) {
      const changed = await invoices.changeAll(changes, LEASE_MS, reserved);
      for (const [index, [before, what]] of changes.entries()) {
        const claim = changed[index] as Claim;
        spans.changed(before, what, claim);
        if (what.events) publish(claim.invoice);
      }
      return changed;
    },
    putOff,
    async leave(claim, work, inMs, what = {}) {
      await change(claim, { ...what, work: { ...work, in: inMs, keep: false } });
      return null;
    },
    handOver: (claim, stage, what) => putOff(claim, { ...NEW_WORK, stage }, 0, what),
  };
}

/**
 * Returns the delay that gives an invoice its place in its lane, in milliseconds. It is never positive, so the oldest
 * go first.
 */
export function byAge({ createdAt }: Pick<Invoice, 'createdAt'>): number {
  return Math.min(0, createdAt.getTime() - Date.now());
}

/** Returns how many runs of the invoice's current stage failed and were postponed. */
export function attemptsOf(invoice: Invoice): number {
  return invoice.work?.attempts ?? 0;
}
