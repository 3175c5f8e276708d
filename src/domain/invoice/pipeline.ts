import { createHash } from 'node:crypto';
import { SigningFailed } from '../signing-key.ts';
import type { LogoStore } from '../tenant/ports.ts';
import type { Environment } from '../tenant/tenant.ts';
import { SUSPICIOUS_CLAIMS } from './attention.ts';
import { AttemptLog } from './authority-attempts.ts';
import { next, recordOf, rejection, transition } from './changes.ts';
import type { Mailer } from './email.ts';
import { createEmailStage } from './email-stage.ts';
import type { Invoice } from './invoice.ts';
import { legalInvoice, legalNumber } from './legal-invoice.ts';
import type { Stage } from './lifecycle.ts';
import type { Numbering } from './numbering.ts';
import { ASK_AGAIN_MS, decisionWait, pauseAfter, SIGN_SCHEDULE } from './pauses.ts';
import {
  type Authority,
  type Decision,
  type DocumentSigner,
  InvalidDocument,
  type InvoiceWriter,
  NotReceived,
  type PdfRenderer,
  type Receipt,
  type Submission,
} from './ports.ts';
import { createRenderStage } from './render-stage.ts';
import {
  type Claim,
  ClaimLost,
  type DocumentStore,
  type InvoiceChange,
  type InvoiceRepository,
  type SeriesNumber,
  type StageQueue,
} from './repository.ts';
import { scenarioOf } from './test-scenarios.ts';

/** What the pipeline needs of the rest of the service. */
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

/** A lease outlives every pause of a healthy worker and is renewed while a stage runs; a dead worker's ends by itself. */
export const LEASE_MS = 4000;
const RENEW_MS = 1300;
/** Workers may die over an invoice by accident so many times; then it may be what kills them, and rests as after a defect. */
const ACCIDENTS = 5;

/** The next step of an invoice: run on at once under the same claim, or null when this run is over. */
type Step = Claim | null;

export interface Pipeline {
  /**
   * Runs an invoice's due stage and every following one that need not wait. Does nothing when nothing is due or another worker has it, so
   * any number of calls for an invoice is safe. Never throws for what a stage can expect; a defect is thrown and its lease runs out.
   */
  run(invoiceId: string): Promise<void>;
}

/** The stages of design, section 4: normalize → sign → transmit → decide → render → email. */
export function createPipeline(parts: PipelineParts): Pipeline {
  const { invoices, documents, queue, numbering, writer } = parts;

  const stages: Readonly<Record<Stage, (claim: Claim, runOn: boolean) => Promise<Step>>> = {
    async normalize(claim) {
      const { invoice } = claim;
      const numbered = async (number: string, series?: { series: SeriesNumber }): Promise<Step> => {
        try {
          await writer.write(legalInvoice(invoice, number));
        } catch (error) {
          if (!(error instanceof InvalidDocument)) throw error;
          parts.report({
            level: 'error',
            invoiceId: invoice.id,
            stage: 'normalize',
            message: 'our own document is invalid',
            error,
          });
          await change(claim, {
            ...rejection(
              invoice,
              `Our own document is invalid: ${error.message} Nothing was sent to the tax authority. Contact the support of the invoicing service.`,
            ),
            ...series,
          });
          return null;
        }
        return change(claim, { ...transition(invoice, 'signing'), ...series, work: next('sign') });
      };
      if (invoice.ownNumber !== null) return numbered(invoice.ownNumber);
      return numbering.withNext(invoice, (series) => numbered(legalNumber(series), { series }));
    },

    async sign(claim) {
      const { invoice } = claim;
      let signed: Uint8Array;
      try {
        if (scenarioOf(invoice) === 'signing-fails')
          throw new SigningFailed('The magic ICE of the test environment asks for it.');
        const signer = parts.signerOf(invoice);
        signed = await signer.sign(await writer.write(legalInvoice(invoice, numberOf(invoice))), new Date());
      } catch (error) {
        if (!(error instanceof SigningFailed)) throw error;
        const attempts = attemptsOf(invoice) + 1;
        parts.report({
          level: 'warn',
          invoiceId: invoice.id,
          stage: 'sign',
          message: `signing failed (attempt ${attempts})`,
          error,
        });
        const delay = error.lasting ? undefined : SIGN_SCHEDULE[invoice.environment][attempts];
        if (delay !== undefined) return putOff(claim, { stage: 'sign', attempts, outcomeUnknown: false }, delay);
        await change(
          claim,
          rejection(
            invoice,
            `signature_error: ${error.message} Nothing was sent to the tax authority. ${again(invoice)}; if that is rejected too, contact the support of the invoicing service.`,
          ),
        );
        return null;
      }
      const xml = await documents.put(signed, `${invoice.id}.xml`, 'application/xml');
      // From here on these bytes are the invoice: what is sent, served and hashed.
      const stored = await change(claim, { xml, work: next('transmit') });
      return transmitBytes(stored, signed);
    },

    async transmit(claim, runOn) {
      if (!claim.invoice.xml) throw new Error(`invoice ${claim.invoice.id} is at transmit without a signed document`);
      return transmitBytes(claim, await documents.get(claim.invoice.xml), !runOn);
    },

    async decide(claim) {
      const { invoice } = claim;
      const authority = parts.authorityOf(invoice.environment);
      const log = new AttemptLog();
      const receipt = await log
        .call('look_up', () => authority.lookUp(invoice.id, invoice.xml?.sha256 ?? ''))
        .catch((error: unknown) => {
          parts.report({
            level: 'warn',
            invoiceId: invoice.id,
            stage: 'decide',
            message: 'the authority can not be asked',
            error,
          });
          return null;
        });
      if (receipt?.decision) return decideBy(claim, receipt.decision, log);
      const { days, delay } = decisionWait(invoice, new Date());
      if (days > 0) {
        const message = `the authority has not decided for ${days} ${days === 1 ? 'day' : 'days'}; it is asked on`;
        parts.report({ level: 'error', invoiceId: invoice.id, stage: 'decide', message });
      }
      return putOff(
        claim,
        { stage: 'decide', attempts: attemptsOf(invoice) + 1, outcomeUnknown: false },
        receipt?.askAgainAfter ?? delay,
        recordOf(invoice, log),
      );
    },

    render: createRenderStage({
      documents,
      renderer: parts.renderer,
      logos: parts.logos,
      verifyUrlOf: parts.verifyUrlOf,
      finish: async (claim, stored) => {
        if (claim.invoice.customer.email !== null) return handOver(claim, 'email', stored);
        await change(claim, { ...stored, work: null });
        return null;
      },
      putOff: (claim, attempts, delayMs) =>
        putOff(claim, { stage: 'render', attempts, outcomeUnknown: false }, delayMs),
      report: parts.report,
    }),

    email: createEmailStage({
      documents,
      mailer: parts.mailer,
      verifyUrlOf: parts.verifyUrlOf,
      change: (claim, what) => change(claim, what),
      putOff: (claim, stage, attempts, delayMs, what) =>
        putOff(claim, { stage, attempts, outcomeUnknown: false }, delayMs, what),
      report: parts.report,
    }),
  };

  /** @param askFirst an earlier run may have sent it: a lost reply is never answered by a blind resend */
  async function transmitBytes(claim: Claim, document: Uint8Array, askFirst = false): Promise<Step> {
    const { invoice } = claim;
    const authority = parts.authorityOf(invoice.environment);
    const sha256 = invoice.xml?.sha256 ?? createHash('sha256').update(document).digest('hex');
    const submission: Submission = { submissionId: invoice.id, customerIce: invoice.customer.ice, sha256, document };
    let outcomeUnknown = askFirst || (invoice.work?.outcomeUnknown ?? false);
    const schedule = parts.transmitSchedule(invoice.environment);
    const log = new AttemptLog();
    try {
      const held = outcomeUnknown ? await log.call('look_up', () => authority.lookUp(invoice.id, sha256)) : null;
      if (held) return transmitted(claim, held, log);
      outcomeUnknown = false;
      if (attemptsOf(invoice) < schedule.length)
        return await transmitted(claim, await log.call('submit', () => authority.submit(submission)), log);
    } catch (error) {
      if (error instanceof ClaimLost) throw error;
      outcomeUnknown = !(error instanceof NotReceived);
      parts.report({
        level: 'warn',
        invoiceId: invoice.id,
        stage: 'transmit',
        message: `attempt ${attemptsOf(invoice) + 1} to transmit: ${outcomeUnknown ? 'the outcome is unknown' : 'not received'}`,
        error,
      });
    }
    const attempts = attemptsOf(invoice) + 1;
    if (attempts >= schedule.length && !outcomeUnknown) {
      const reason = `dgi_transmission_failed: the tax authority could not be reached in ${schedule.length} attempts and holds no copy. ${again(invoice)}, later.`;
      await change(claim, { ...rejection(invoice, reason), ...recordOf(invoice, log) });
      return null;
    }
    if (attempts >= schedule.length) {
      parts.report({
        level: 'error',
        invoiceId: invoice.id,
        stage: 'transmit',
        message: 'the outcome stays unknown; look-ups go on',
      });
    }
    return putOff(
      claim,
      { stage: 'transmit', attempts, outcomeUnknown },
      schedule[Math.min(attempts, schedule.length - 1)] ?? 0,
      recordOf(invoice, log),
    );
  }

  /** The authority holds the document. */
  async function transmitted(claim: Claim, receipt: Receipt, log: AttemptLog): Promise<Step> {
    const { invoice } = claim;
    const held = await change(claim, {
      ...transition(invoice, 'transmitted'),
      ...recordOf(invoice, log),
      work: next('decide'),
    });
    if (receipt.decision) return decideBy(held, receipt.decision);
    return putOff(held, { stage: 'decide', attempts: 0, outcomeUnknown: false }, receipt.askAgainAfter ?? ASK_AGAIN_MS);
  }

  /** @param log what is not recorded yet */
  async function decideBy(claim: Claim, decision: Decision, log = new AttemptLog()): Promise<Step> {
    const { invoice } = claim;
    if (decision.outcome === 'rejected') {
      await change(claim, { ...rejection(invoice, decision.reason), ...recordOf(invoice, log) });
      return null;
    }
    const { dgiId } = decision;
    const accepted = { ...transition(invoice, 'accepted', { dgiId }), dgiId };
    return handOver(claim, 'render', { ...accepted, ...recordOf(invoice, log) });
  }

  /** The following stage is a job of its own. */
  function handOver(claim: Claim, stage: Stage, what: Omit<InvoiceChange, 'work'>): Promise<null> {
    return putOff(claim, { stage, attempts: 0, outcomeUnknown: false }, 0, what);
  }

  async function putOff(
    claim: Claim,
    work: { stage: Stage; attempts: number; outcomeUnknown: boolean },
    delayMs: number,
    what: Omit<InvoiceChange, 'work'> = {},
  ): Promise<null> {
    const { invoice } = await change(claim, { ...what, work: { ...work, in: delayMs, keep: false } });
    void queue.enqueue(invoice, delayMs);
    return null;
  }

  async function change(claim: Claim, what: InvoiceChange): Promise<Claim> {
    const changed = await invoices.change(claim, what, LEASE_MS);
    if (what.event) parts.publish(changed.invoice);
    return changed;
  }

  return {
    async run(invoiceId) {
      let step: Step = await invoices.claim(invoiceId, LEASE_MS);
      if (!step) return;
      const claimed = step;
      const claims = Math.max(1, claimed.invoice.work?.claims ?? 1);
      const lease = claims > ACCIDENTS ? pauseAfter(claims - ACCIDENTS) : LEASE_MS;
      const renewal = setInterval(() => void invoices.renew(claimed, lease).catch(() => undefined), RENEW_MS);
      try {
        if (lease > LEASE_MS) await invoices.renew(claimed, lease);
        for (let runOn = false; step?.invoice.work; runOn = true)
          step = await stages[step.invoice.work.stage](step, runOn);
      } catch (error) {
        // Another worker took it over: that one goes on.
        if (error instanceof ClaimLost) return;
        clearInterval(renewal);
        // A defect would throw again at once, so it rests; when it is the store that fails, the lease runs out as it is.
        const pause = pauseAfter(claims);
        if (claims >= SUSPICIOUS_CLAIMS) {
          const stage = step?.invoice.work?.stage ?? 'normalize';
          const message = `needs attention: ${claims} runs without progress; the next in ${Math.round(pause / 1000)} s`;
          parts.report({ level: 'error', invoiceId, stage, message, error });
        }
        await invoices.renew(claimed, pause).catch(() => undefined);
        throw error;
      } finally {
        clearInterval(renewal);
      }
    },
  };
}

/** What to do about an invoice that the authority does not hold: with its old key its rejection would be answered again. */
function again({ ownNumber }: Invoice): string {
  return `Create the invoice again, with a new Idempotency-Key${ownNumber === null ? '' : ' and a new number'}`;
}

function attemptsOf(invoice: Invoice): number {
  return invoice.work?.attempts ?? 0;
}

function numberOf(invoice: Invoice): string {
  if (invoice.number === null) throw new Error(`invoice ${invoice.id} has no number after normalization`);
  return invoice.number;
}
