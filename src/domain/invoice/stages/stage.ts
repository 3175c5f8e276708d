import type { LogoStore } from '../../tenant/ports.ts';
import type { Environment } from '../../tenant/tenant.ts';
import type { Mailer } from '../email.ts';
import type { Invoice } from '../invoice.ts';
import type { Stage } from '../lifecycle.ts';
import type { Numbering } from '../numbering.ts';
import type { Authority, DocumentSigner, InvoiceWriter, PdfRenderer } from '../ports.ts';
import type { Claim, DocumentStore, InvoiceChange, InvoiceRepository, StageQueue } from '../repository.ts';

/** A lease outlives every pause of a healthy worker and is renewed while a stage runs; a dead worker's ends by itself. Milliseconds. */
export const LEASE_MS = 4000;

/** What the stages need of the rest of the service. */
export interface PipelineParts {
  readonly invoices: InvoiceRepository;
  readonly documents: Pick<DocumentStore, 'put' | 'get'>;
  readonly queue: StageQueue;
  readonly numbering: Numbering;
  readonly writer: InvoiceWriter;
  /** @throws {SigningFailed} when there is no key for this invoice */
  readonly signerOf: (invoice: Invoice) => DocumentSigner;
  readonly authorityOf: (environment: Environment) => Authority;
  readonly renderer: PdfRenderer;
  readonly logos: LogoStore;
  readonly mailer: Mailer;
  readonly verifyUrlOf: (invoice: Invoice) => string;
  /** Delays before the attempts to transmit, milliseconds; their number is the number of attempts. */
  readonly transmitSchedule: (environment: Environment) => readonly number[];
  /** Told of each status change, right after it is stored: for what goes out to webhooks. Returns at once, never throws. */
  readonly publish: (invoice: Invoice) => void;
  readonly report: (event: PipelineReport) => void;
}

/** What operators should know. */
export interface PipelineReport {
  readonly level: 'info' | 'warn' | 'error';
  readonly invoiceId: string;
  readonly stage: Stage;
  readonly message: string;
  readonly error?: unknown;
}

/** What follows a stage: the next one under the same claim, or null when this run is over. */
export type Step = Claim | null;

/**
 * Runs a stage of a claimed invoice. What a stage can expect (a refusal, a lost reply) it records and puts off; anything that it throws is a
 * defect, or {@link ClaimLost}.
 * @param runOn whether the stage before ran under the same claim
 */
export type RunStage = (claim: Claim, runOn: boolean) => Promise<Step>;

/** The updates by which a stage ends. Each throws `ClaimLost` when another worker has the invoice. */
export interface Progress {
  /** Changes the invoice and publishes its event, if there is one. */
  change(claim: Claim, what: InvoiceChange): Promise<Claim>;
  /** Ends this run: the stage comes again after `delayMs`, as a job of its own. */
  putOff(claim: Claim, work: Postponed, delayMs: number, what?: Omit<InvoiceChange, 'work'>): Promise<null>;
  /** Ends this run: the following stage is a job of its own. */
  handOver(claim: Claim, stage: Stage, what: Omit<InvoiceChange, 'work'>): Promise<null>;
}

interface Postponed {
  readonly stage: Stage;
  /** Failed attempts of this stage so far. */
  readonly attempts: number;
  readonly outcomeUnknown: boolean;
}

export function createProgress({ invoices, queue, publish }: PipelineParts): Progress {
  async function change(claim: Claim, what: InvoiceChange): Promise<Claim> {
    const changed = await invoices.change(claim, what, LEASE_MS);
    if (what.event) publish(changed.invoice);
    return changed;
  }

  async function putOff(
    claim: Claim,
    work: Postponed,
    delayMs: number,
    what: Omit<InvoiceChange, 'work'> = {},
  ): Promise<null> {
    const { invoice } = await change(claim, { ...what, work: { ...work, in: delayMs, keep: false } });
    void queue.enqueue(invoice, delayMs);
    return null;
  }

  return {
    change,
    putOff,
    handOver: (claim, stage, what) => putOff(claim, { stage, attempts: 0, outcomeUnknown: false }, 0, what),
  };
}

/** Failed attempts of the invoice's present stage. */
export function attemptsOf(invoice: Invoice): number {
  return invoice.work?.attempts ?? 0;
}

/** What to do about an invoice that the authority does not hold: its old key would be answered with its rejection again. */
export function again({ ownNumber }: Invoice): string {
  return `Create the invoice again, with a new Idempotency-Key${ownNumber === null ? '' : ' and a new number'}`;
}
