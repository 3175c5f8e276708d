import type { AuthorityReceipt, ClearedAnswer, ReceiptAnswer } from '../../authority/ports.ts';
import { MANY_ATTEMPTS } from '../attention.ts';
import { AttemptLog, type InvalidAnswer } from '../authority-attempts.ts';
import { recordOf } from '../changes.ts';
import { DOCUMENTS } from '../documents.ts';
import { type Invoice, NEW_WORK, type StoredDocument, type StoredReceipt } from '../invoice.ts';
import { RECEIPT_SCHEDULE } from '../pauses.ts';
import type { InvoiceChange } from '../repository.ts';
import { isAnswered } from './call-authority.ts';
import { attemptsOf, type PipelineParts, type Progress, type RunStage } from './stage.ts';

/**
 * Why a document of the authority is not stored yet. `isWrong`: it was fetched but does not match the invoice.
 * `isFailure`: the authority did not answer.
 */
interface Delay {
  readonly message: string;
  readonly isWrong: boolean;
  readonly isFailure: boolean;
  readonly retryAfterMs: number;
}

const RETRY = { stage: 'receipt', outcomeUnknown: false } as const;

/**
 * Creates the stage that fetches the authority's receipt of an accepted invoice and, if the authority makes one, the
 * cleared document. It compares both with the invoice and stores them (docs/decisions/0042). Retries have no limit and
 * never change the status. A wrong document is never stored: the invoice waits for an operator or a right answer.
 * Rendering follows if a mail or a request waits for the PDF; otherwise it is left for idle time (docs/decisions/0046).
 */
export function createReceiptStage(
  parts: Pick<PipelineParts, 'documents' | 'authorityOf' | 'gateOf' | 'checkCleared' | 'isAwaited' | 'report'>,
  { putOff, handOver, leave }: Progress,
): RunStage {
  async function storeReceipt(invoice: Invoice, log: AttemptLog): Promise<StoredReceipt | Delay> {
    const authority = parts.authorityOf(invoice.environment);
    const { dgiId } = invoice;
    if (dgiId === null) throw new Error(`invoice ${invoice.id} is at stage receipt but not accepted`);
    const answer = await log.call('receipt', async (): Promise<ReceiptAnswer> => {
      const given = await authority.receipt({ dgiId, submissionId: invoice.heldAs ?? invoice.id });
      const fault = given.kind === 'receipt' ? differenceOf(given.receipt, invoice) : null;
      return fault === null ? given : { kind: 'invalid', requestId: given.requestId, message: fault };
    });
    if (answer.kind !== 'receipt') return delayOf(answer, 'receipt');
    const { document, decidedAt } = answer.receipt;
    return { ...(await put(invoice, document, 'receipt')), decidedAt };
  }

  async function storeCleared(
    invoice: Invoice,
    sent: StoredDocument,
    log: AttemptLog,
  ): Promise<StoredDocument | Delay> {
    const authority = parts.authorityOf(invoice.environment);
    const answer = await log.call('cleared', async (): Promise<ClearedAnswer | InvalidAnswer> => {
      const given = await authority.cleared(invoice.heldAs ?? invoice.id);
      const fault =
        given.kind === 'document'
          ? await parts.checkCleared(given.document, await parts.documents.get(sent), invoice)
          : null;
      return fault === null ? given : { kind: 'invalid', requestId: given.requestId, message: fault };
    });
    if (answer.kind !== 'document') return delayOf(answer, 'cleared document');
    return put(invoice, answer.document, 'xml', 'cleared.xml');
  }

  function put(
    { id }: Invoice,
    bytes: Uint8Array,
    kind: 'receipt' | 'xml',
    suffix: string = DOCUMENTS[kind].suffix,
  ): Promise<StoredDocument> {
    return parts.documents.put(bytes, `${id}.${suffix}`, DOCUMENTS[kind].mediaType);
  }

  return async (claim) => {
    const { invoice } = claim;
    const { xml } = invoice;
    if (xml === null) throw new Error(`invoice ${invoice.id} is at stage receipt without a signed document`);
    const gate = parts.gateOf(invoice.environment);
    const wait = gate.lookUpWait();
    if (wait > 0) return putOff(claim, { ...RETRY, attempts: attemptsOf(invoice) }, wait);
    const log = new AttemptLog();
    const receipt = invoice.receipt ?? (await storeReceipt(invoice, log));
    const isCleared = parts.authorityOf(invoice.environment).capabilities().clearedDocument || invoice.awaitsCleared;
    const cleared = isCleared ? (invoice.cleared ?? (await storeCleared(invoice, xml, log))) : null;
    const stored = {
      ...(receipt !== invoice.receipt && !isDelay(receipt) && { receipt }),
      ...(cleared !== null && !isDelay(cleared) && { cleared, awaitsCleared: false }),
      ...recordOf(invoice, log),
    } satisfies Omit<InvoiceChange, 'work'>;
    const delays = [receipt, cleared].filter((each): each is Delay => each !== null && isDelay(each));
    if (delays.length === 0) {
      if (invoice.customer.email !== null || parts.isAwaited(invoice)) return handOver(claim, 'render', stored);
      return leave(claim, { ...NEW_WORK, stage: 'render', idle: true }, 0, stored);
    }

    const unanswered = delays.find((each) => each.isFailure);
    if (!unanswered) gate.answered();
    else await gate.lookUpFailed(unanswered.retryAfterMs || null);
    const isWrong = delays.some((each) => each.isWrong);
    // A wrong answer needs attention at once, and is unlikely to be right within seconds.
    const attempts = Math.max(attemptsOf(invoice) + 1, isWrong ? MANY_ATTEMPTS : 0);
    const message = `${delays.map((each) => each.message).join('; ')} (attempt ${attempts})`;
    parts.report({ level: isWrong ? 'error' : 'warn', invoiceId: invoice.id, stage: 'receipt', message });
    const delay = RECEIPT_SCHEDULE[Math.min(attempts, RECEIPT_SCHEDULE.length) - 1] ?? RECEIPT_SCHEDULE[0];
    return putOff(claim, { ...RETRY, attempts }, Math.max(delay, ...delays.map((each) => each.retryAfterMs)), stored);
  };
}

function isDelay(result: StoredDocument | Delay): result is Delay {
  return 'isWrong' in result;
}

/** Returns the difference between a receipt and the invoice, as a sentence; null if they match. */
function differenceOf(receipt: AuthorityReceipt, invoice: Invoice): string | null {
  const expected = {
    submissionId: invoice.heldAs ?? invoice.id,
    dgiId: invoice.dgiId,
    sha256: invoice.xml?.sha256,
    status: 'accepted',
  } as const;
  const different = (Object.keys(expected) as (keyof typeof expected)[]).filter(
    (name) => receipt[name] !== expected[name],
  );
  return different.length === 0 ? null : `The receipt is of something else: its ${different.join(' and ')} differ.`;
}

function delayOf(
  answer: Exclude<ReceiptAnswer | ClearedAnswer | InvalidAnswer, { kind: 'receipt' | 'document' }>,
  what: string,
): Delay {
  switch (answer.kind) {
    case 'absent':
      return { message: `the authority has no ${what}`, isWrong: false, isFailure: false, retryAfterMs: 0 };
    case 'invalid':
      return {
        message: `the ${what} is not valid: ${answer.message}`,
        isWrong: true,
        isFailure: false,
        retryAfterMs: 0,
      };
    case 'unknown':
      return {
        message: `the ${what} could not be fetched: ${answer.message}`,
        isWrong: false,
        isFailure: !isAnswered(answer),
        retryAfterMs: answer.retryAfterMs ?? 0,
      };
  }
}
