import { createHash, randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Answer, errorAnswer, laterAnswer } from './answer.ts';
import { type Clock, timestamp } from './clock.ts';
import type { Counters } from './counters.ts';
import type { Examiner } from './examiner.ts';
import type { Identity } from './identity.ts';
import type { Decided, Entry, Ledger, Part, Problem, Received } from './ledger.ts';
import type { Configuration } from './options.ts';
import { clearedDocument, receiptFacts, signReceipt } from './papers.ts';
import { createSlidingWindow, type SlidingWindow } from './sliding-window.ts';
import { type SubmissionBody, submissionBody } from './submission.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const MAX_TIMER = 2 ** 31 - 1;
const UNAVAILABLE_TWICE_ATTEMPTS = 2;
/** Windows of look-ups are kept for the submissions looked up last. */
const MAX_WINDOWS = 20_000;

/** What is out of service: nothing, submissions only, or every call but the status page. */
export const MAINTENANCE_SCOPES = ['off', 'submissions', 'all'] as const;
export interface Maintenance {
  readonly scope: (typeof MAINTENANCE_SCOPES)[number];
  /** RFC 3339, or null: the end that the status page announces. */
  readonly until: string | null;
  /** Seconds, of `Retry-After`. */
  readonly retryAfter: number;
}

/** How a submission is treated by a fault. */
export interface Treatment {
  /** The id under which it is registered instead of its own. */
  readonly registerAs?: string;
  /** Milliseconds to its decision; null: until control takes it. */
  readonly decisionIn?: number | null;
}

/** What the authority does, without HTTP: its calls once they are authenticated and their faults chosen. */
export interface SimulatedAuthority {
  capabilities(): Answer;
  submit(id: string, document: Buffer, contentDigest: string | undefined, treatment?: Treatment): Promise<Answer>;
  lookUp(id: string): Promise<Answer>;
  lookUpByDigest(digest: string): Promise<Answer>;
  cleared(id: string): Promise<Answer>;
  receipt(dgiId: string): Promise<Answer>;
  changes(query: URLSearchParams): Answer;
  status(): Answer;
  /** A submission as the protocol shows it now. */
  show(entry: Entry): SubmissionBody;
  /** Takes the decision on a submission now. @param problems instead of its own; empty: it is accepted */
  decide(entry: Entry, problems?: readonly Problem[]): Promise<void>;
  maintenance: Maintenance;
  /** Stops taking decisions. */
  close(): void;
}

interface Parts {
  readonly config: Configuration;
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly counters: Counters;
  readonly identity: Identity;
  readonly examiner: Examiner;
  /** Called with each decision once it is on the disk. */
  readonly onDecided: (entry: Entry, decided: Decided) => void;
}

export function createAuthority(parts: Parts): SimulatedAuthority {
  const { config, clock, ledger, counters, identity, examiner } = parts;
  const { limits } = config;
  const submissions = createSlidingWindow(limits.submissions_per_minute, MINUTE);
  const lookUps = createSlidingWindow(limits.lookups_per_minute, MINUTE);
  const windows = new LRUCache<string, SlidingWindow>({ max: MAX_WINDOWS });
  const timers = new Map<Entry, NodeJS.Timeout>();
  const making = new Map<string, Promise<Uint8Array | null>>();
  let maintenance: Maintenance = { scope: 'off', until: null, retryAfter: 60 };

  const show = (entry: Entry, pending?: 'received') =>
    submissionBody(entry, clock.steady(), config.profile !== 'callback', pending);

  function decision(received: Received, problems: readonly Problem[]): Decided {
    const digits = createHash('sha256').update(`${received.id} ${received.digest}`).digest('hex').slice(0, 16);
    const isAccepted = problems.length === 0;
    return {
      status: isAccepted ? 'accepted' : 'rejected',
      problems,
      decidedAt: clock.now(),
      dgiId: isAccepted ? `DGI-${digits.toUpperCase()}` : null,
    };
  }

  async function decide(entry: Entry, problems = entry.received.problems): Promise<void> {
    clearTimeout(timers.get(entry));
    timers.delete(entry);
    await entry.committed;
    if (entry.decided !== null) return;
    const decided = decision(entry.received, problems);
    await ledger.decide(entry, decided);
    if (entry.decided === decided) parts.onDecided(entry, decided);
  }

  function schedule(entry: Entry): void {
    const { dueAt } = entry.received;
    if (dueAt === null || entry.decided !== null) return;
    const wait = Math.min(MAX_TIMER, Math.max(0, dueAt - clock.steady()));
    timers.set(
      entry,
      setTimeout(() => void decide(entry), wait),
    );
  }

  /** The answer to a submission that is held: as it stands, or why it is not this one. Null: nothing is in its way. */
  async function standing(id: string, digest: string, invoice: Received['invoice']): Promise<Answer | null> {
    const own = ledger.byId.get(id);
    if (own !== undefined) {
      await own.committed;
      if (own.received.digest !== digest)
        return errorAnswer(409, 'digest_mismatch', { held_digest: own.received.digest });
      return submitted(own);
    }
    const other = ledger.byDigest.get(digest) ?? (invoice === null ? undefined : ledger.ofInvoice(invoice));
    if (other === undefined) return null;
    await other.committed;
    return errorAnswer(409, 'duplicate', { original: show(other) });
  }

  function submitted(entry: Entry): Answer {
    return {
      status: entry.decided === null ? 202 : 200,
      body: { json: show(entry, 'received') },
      delay: Math.max(0, entry.received.silentUntil - clock.steady()),
    };
  }

  async function submit(
    id: string,
    document: Buffer,
    contentDigest: string | undefined,
    { registerAs = id, decisionIn = config.decisionDelay }: Treatment = {},
  ): Promise<Answer> {
    if (counters.putsNow > limits.concurrent) return laterAnswer(429, 1);
    const wait = submissions.take(clock.steady());
    if (wait > 0) return laterAnswer(429, wait / 1000);
    if (document.length === 0) return errorAnswer(400, 'empty_document');
    const sha256 = createHash('sha256').update(document).digest();
    const [, announced] = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/]+=*):/.exec(contentDigest ?? '') ?? [];
    if (announced !== sha256.toString('base64')) return errorAnswer(400, 'invalid_digest');
    const digest = sha256.toString('hex');
    const before = await standing(id, digest, null);
    if (before !== null) return before;

    const { scenario, invoice, problems, warnings } = await examiner.examine(document);
    if (scenario === 'unavailable') return laterAnswer(503, 1);
    if (scenario === 'unavailable-twice' && (await ledger.countRefusal(id)) <= UNAVAILABLE_TWICE_ATTEMPTS)
      return laterAnswer(503, 1);
    const number = invoice && { seller: invoice.sellerIce, number: invoice.number };
    // Another call may have registered it during the examination. Nothing is awaited between this check and `receive`
    // where it finds nothing.
    const meanwhile = await standingNow(id, digest, number);
    if (meanwhile !== null) return meanwhile;
    const now = clock.steady();
    const receiptIn = scenario === 'slow-receipt' ? config.slowReceipt : 0;
    const delay =
      decisionIn === null ? null : Math.max(decisionIn, scenario === 'slow-decision' ? config.slowDecision : 0);
    const received: Received = {
      ...{ id: registerAs, digest, invoice: number, receivedAt: clock.now(), problems, warnings },
      dueAt: delay === null ? null : now + receiptIn + delay,
      silentUntil: receiptIn === 0 ? 0 : now + receiptIn,
    };
    const isImmediate = received.dueAt === now;
    const decided = isImmediate ? decision(received, problems) : undefined;
    const entry = await ledger.receive(received, document, decided);
    if (decided === undefined) schedule(entry);
    else parts.onDecided(entry, decided);
    return scenario === 'lost-reply' ? { status: 0, body: null, instead: 'close' } : submitted(entry);
  }

  /** `standing`, which is asked synchronously whether there is anything to wait for. */
  function standingNow(id: string, digest: string, invoice: Received['invoice']): Promise<Answer | null> | null {
    const isFree =
      !ledger.byId.has(id) && !ledger.byDigest.has(digest) && (invoice === null || !ledger.ofInvoice(invoice));
    return isFree ? null : standing(id, digest, invoice);
  }

  /** Counts a look-up; the answer when it exceeds a limit. */
  function refusedLookUp(subject: string): Answer | null {
    const now = clock.steady();
    counters.lookUp(subject, now);
    const window = windows.get(subject) ?? createSlidingWindow(limits.lookups_per_submission_per_hour, HOUR);
    windows.set(subject, window);
    const wait = lookUps.take(now) || window.take(now);
    return wait > 0 ? laterAnswer(429, wait / 1000) : null;
  }

  /** A look-up of an entry, which may have to wait until its receipt is due. */
  async function shown(entry: Entry): Promise<Answer | SubmissionBody> {
    await entry.committed;
    const silence = entry.received.silentUntil - clock.steady();
    return silence > 0 ? laterAnswer(503, silence / 1000) : show(entry);
  }

  /** Makes a document once; from then on it is the same, whatever key signs by then. */
  function paper(entry: Entry, part: Part, make: () => Promise<Uint8Array | null>): Promise<Uint8Array | null> {
    const key = `${part} ${entry.received.id}`;
    const current = making.get(key) ?? makeOnce();
    making.set(key, current);
    return current.finally(() => making.delete(key));

    async function makeOnce(): Promise<Uint8Array | null> {
      const kept = await ledger.read(entry, part);
      if (kept !== null) return kept;
      const made = await make();
      if (made !== null) await ledger.keep(entry, part, made);
      return made;
    }
  }

  for (const entry of ledger.byId.values()) schedule(entry);

  return {
    capabilities: () => ({
      status: 200,
      body: {
        json: {
          protocol: '1',
          decision: config.profile,
          lookup: config.profile === 'synchronous' ? ['id'] : ['id', 'digest'],
          cleared_document: config.profile === 'synchronous',
          max_document_bytes: config.maxDocumentBytes,
          limits,
        },
      },
    }),
    submit,
    async lookUp(id) {
      const refused = refusedLookUp(id);
      if (refused !== null) return refused;
      const entry = ledger.byId.get(id);
      if (entry === undefined) return errorAnswer(404, 'unknown_submission');
      const seen = await shown(entry);
      return 'body' in seen ? seen : { status: 200, body: { json: seen } };
    },
    async lookUpByDigest(digest) {
      if (config.profile === 'synchronous') return errorAnswer(400, 'lookup_not_offered');
      const entry = ledger.byDigest.get(digest);
      const refused = refusedLookUp(entry?.received.id ?? digest);
      if (refused !== null) return refused;
      if (entry === undefined) return { status: 200, body: { json: { data: [] } } };
      const seen = await shown(entry);
      return 'body' in seen ? seen : { status: 200, body: { json: { data: [seen] } } };
    },
    async cleared(id) {
      const entry = ledger.byId.get(id);
      if (entry === undefined) return errorAnswer(404, 'unknown_submission');
      if (config.profile !== 'synchronous' || entry.decided?.status !== 'accepted')
        return errorAnswer(404, 'no_cleared_document');
      const xml = await paper(entry, 'cleared', async () => {
        const document = await ledger.read(entry, 'document');
        return document && clearedDocument(document, receiptFacts(entry), identity.receipts, clock.now());
      });
      return xml === null ? errorAnswer(404, 'no_cleared_document') : { status: 200, body: { xml } };
    },
    async receipt(dgiId) {
      const entry = ledger.byDgiId.get(dgiId);
      if (entry === undefined) return errorAnswer(404, 'unknown_receipt');
      const xml = await paper(entry, 'receipt', () => signReceipt(receiptFacts(entry), identity.receipts, clock.now()));
      return xml === null ? errorAnswer(404, 'unknown_receipt') : { status: 200, body: { xml } };
    },
    changes(query) {
      const { decisions } = ledger;
      const [, after] = /^c(\d{1,15})$/.exec(query.get('after') ?? 'c0') ?? [];
      const start = Number(after ?? Number.NaN);
      if (!(start <= decisions.length)) return errorAnswer(400, 'invalid_cursor');
      const limit = Number(query.get('limit') ?? 100);
      if (!Number.isInteger(limit) || limit < 1 || limit > 1000) return errorAnswer(400, 'invalid_limit');
      const page = decisions.slice(start, start + limit);
      const json = {
        data: page.map((entry) => show(entry)),
        next_cursor: `c${start + page.length}`,
        high_water_mark: `c${decisions.length}`,
      };
      return { status: 200, body: { json } };
    },
    status() {
      const status = { off: 'up', submissions: 'degraded', all: 'maintenance' }[maintenance.scope];
      return { status: 200, body: { json: { status, until: maintenance.until } } };
    },
    show,
    decide,
    get maintenance() {
      return maintenance;
    },
    set maintenance(next) {
      maintenance = next;
    },
    close() {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}

/** An id that no client uses. */
export function strangeId(): string {
  return `other_${randomUUID()}`;
}

/** A submission that nobody made. */
export function strangeSubmission(now: number): SubmissionBody {
  const id = strangeId();
  const time = timestamp(now);
  return {
    ...{ id, digest: createHash('sha256').update(id).digest('hex'), status: 'accepted' },
    ...{ received_at: time, decided_at: time, dgi_id: `DGI-${id.slice(-12).toUpperCase()}` },
    ...{ problems: [], warnings: [], retry_after: null },
  };
}
