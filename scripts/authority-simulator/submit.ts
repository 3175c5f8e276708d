import { createHash } from 'node:crypto';
import { type Answer, errorAnswer, laterAnswer } from './answer.ts';
import type { Clock } from './clock.ts';
import type { Counters } from './counters.ts';
import type { Decisions } from './decisions.ts';
import type { Examiner, Findings } from './examiner.ts';
import type { Decided, Entry, Ledger, Received } from './ledger.ts';
import type { Configuration } from './options.ts';
import { createSlidingWindow } from './sliding-window.ts';
import type { SubmissionBody } from './submission.ts';

const MINUTE = 60_000;
const UNAVAILABLE_TWICE_ATTEMPTS = 2;

/** The treatment of a submission by a fault. */
export interface Treatment {
  /** The id under which it is registered instead of its own. */
  readonly registerAs?: string;
  /** Time until its decision, milliseconds; null: until the control port takes it. */
  readonly decisionIn?: number | null;
}

/** Answers `PUT /v1/submissions/{id}`, with the header `Content-Digest`. */
export type Submit = (
  id: string,
  document: Buffer,
  contentDigest: string | undefined,
  treatment?: Treatment,
) => Promise<Answer>;

interface Parts {
  readonly config: Configuration;
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly counters: Counters;
  readonly examiner: Examiner;
  readonly decisions: Decisions;
  readonly onDecided: (entry: Entry, decided: Decided) => void;
  readonly show: (entry: Entry, pending?: 'received') => SubmissionBody;
}

export function createSubmit({ config, clock, ledger, counters, examiner, decisions, onDecided, show }: Parts): Submit {
  const window = createSlidingWindow(config.limits.submissions_per_minute, MINUTE);

  function refusedByLimits(): Answer | null {
    if (counters.putsNow > config.limits.concurrent) return laterAnswer(429, 1);
    const wait = window.take(clock.steady());
    return wait > 0 ? laterAnswer(429, wait / 1000) : null;
  }

  /** Returns the entry that conflicts with a submission; it may be the same submission. */
  function inTheWay(id: string, digest: string, invoice: Received['invoice']): Entry | undefined {
    const other = ledger.byId.get(id) ?? ledger.byDigest.get(digest);
    return other ?? (invoice === null ? undefined : ledger.ofInvoice(invoice));
  }

  /** Returns the answer to a submission that meets an entry: its present state, or the reason why it is another one. */
  async function standing(entry: Entry, id: string, digest: string): Promise<Answer> {
    await entry.committed;
    if (entry.received.id !== id) return errorAnswer(409, 'duplicate', { original: show(entry) });
    if (entry.received.digest === digest) return submitted(entry);
    return errorAnswer(409, 'digest_mismatch', { held_digest: entry.received.digest });
  }

  function submitted(entry: Entry): Answer {
    return {
      status: entry.decided === null ? 202 : 200,
      body: { json: show(entry, 'received') },
      delay: Math.max(0, entry.received.silentUntil - clock.steady()),
    };
  }

  function receivedOf(id: string, digest: string, found: Findings, decisionIn: number | null): Received {
    const { invoice, scenario, problems, warnings } = found;
    const now = clock.steady();
    const receiptIn = scenario === 'slow-receipt' ? config.slowReceipt : 0;
    const slow = scenario === 'slow-decision' ? config.slowDecision : 0;
    return {
      id,
      digest,
      receivedAt: clock.now(),
      problems,
      warnings,
      invoice: invoice && { seller: invoice.sellerIce, number: invoice.number },
      dueAt: decisionIn === null ? null : now + receiptIn + Math.max(decisionIn, slow),
      silentUntil: receiptIn === 0 ? 0 : now + receiptIn,
    };
  }

  /** Registers a document without a conflicting entry. */
  async function register(received: Received, document: Buffer): Promise<Entry> {
    const isImmediate = received.dueAt !== null && received.dueAt <= clock.steady();
    const decided = isImmediate ? decisions.of(received) : undefined;
    const entry = await ledger.receive(received, document, decided);
    if (decided === undefined) decisions.schedule(entry);
    else onDecided(entry, decided);
    return entry;
  }

  return async (id, document, contentDigest, { registerAs = id, decisionIn = config.decisionDelay } = {}) => {
    const refusal = refusedByLimits();
    if (refusal !== null) return refusal;
    if (document.length === 0) return errorAnswer(400, 'empty_document');
    const sha256 = createHash('sha256').update(document).digest();
    const [, announced] = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/]+=*):/.exec(contentDigest ?? '') ?? [];
    if (announced !== sha256.toString('base64')) return errorAnswer(400, 'invalid_digest');
    const digest = sha256.toString('hex');
    const held = inTheWay(id, digest, null);
    if (held !== undefined) return standing(held, id, digest);

    const found = await examiner.examine(document);
    if (found.scenario === 'unavailable') return laterAnswer(503, 1);
    if (found.scenario === 'unavailable-twice' && (await ledger.countRefusal(id)) <= UNAVAILABLE_TWICE_ATTEMPTS)
      return laterAnswer(503, 1);
    const received = receivedOf(registerAs, digest, found, decisionIn);
    // Another call may have registered it meanwhile. Nothing is awaited from here to the ledger.
    const registered = inTheWay(id, digest, received.invoice);
    if (registered !== undefined) return standing(registered, id, digest);
    const entry = await register(received, document);
    return found.scenario === 'lost-reply' ? { status: 0, body: null, instead: 'close' } : submitted(entry);
  };
}
