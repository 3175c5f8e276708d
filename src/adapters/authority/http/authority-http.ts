import type { X509Certificate } from 'node:crypto';
import { currentActivity, within } from '../../../domain/activity.ts';
import type {
  Authority,
  ChangesAnswer,
  ClearedAnswer,
  LookUpAnswer,
  ReceiptAnswer,
  SubmitAnswer,
  Unknown,
} from '../../../domain/authority/ports.ts';
import { NO_TRACING, type Tracing } from '../../../domain/tracing.ts';
import { createCapabilityReader } from './capabilities.ts';
import { type ConnectionOptions, createConnection, type OutgoingRequest } from './connection.ts';
import type { CredentialStore } from './credentials.ts';
import { createLimits, type LimitOptions } from './limits.ts';
import {
  changesOutcome,
  documentOutcome,
  isOwn,
  isTokenRefusal,
  lookUpOutcome,
  type Outcome,
  submitOutcome,
  unknownOf,
} from './outcomes.ts';
import { retryAfterOf } from './retry-after.ts';
import { createServerClock, type LocalClock } from './server-clock.ts';
import { createTokenSource, type TokenSettings, type TokenState } from './token.ts';

/** Verifies a receipt of the authority: its form, its signature, and that the signer's certificate chains to DGI_CA. */
export type ReadReceipt = (
  document: Uint8Array,
) => Promise<
  | { readonly kind: 'receipt'; readonly receipt: Extract<ReceiptAnswer, { kind: 'receipt' }>['receipt'] }
  | { readonly kind: 'invalid'; readonly message: string }
>;

export interface HttpAuthoritySettings {
  /** DGI_URL. */
  readonly url: string;
  /** Null if the authority requires no token. */
  readonly token: TokenSettings | null;
  /** DGI_CONCURRENCY: maximum number of submissions in flight, of all workers together. */
  readonly concurrency: number;
}

export interface HttpAuthorityParts {
  readonly credentials: CredentialStore;
  readonly readReceipt: ReadReceipt;
  readonly log: { warn(fields: object, message: string): void; info(fields: object, message: string): void };
  /** Called for each call. `outcome`: the kind of the answer, or why the authority does not hold the document. */
  readonly observe?: (call: CallKind, outcome: string, seconds: number) => void;
  /** Default: nothing is traced. */
  readonly tracing?: Tracing;
  readonly connection?: ConnectionOptions;
  /** Time limit for each request for a token, milliseconds. Default 10,000. */
  readonly tokenTimeoutMs?: number;
  readonly clock?: LocalClock;
  readonly limitClock?: LimitOptions['now'];
  readonly refreshMs?: number;
}

export type CallKind = 'submit' | 'look_up' | 'receipt' | 'cleared' | 'changes' | 'probe';

/** The client of the live authority in this process. */
export interface HttpAuthority extends Authority {
  /** Sets the number of workers that share the authority's limits. */
  setShare(workers: number): void;
  /** Returns the state of the connection, for operators. */
  state(): HttpAuthorityState;
  /**
   * Returns the certificates that the authority's server and its token endpoint presented at their last connections.
   */
  serverCertificates(): readonly X509Certificate[];
  close(): Promise<void>;
}

export interface HttpAuthorityState {
  /** Milliseconds by which the authority's clock is ahead of this machine's; null before the first answer. */
  readonly clockOffsetMs: number | null;
  /** Null if the authority requires no token. */
  readonly token: TokenState | null;
}

const JSON_BYTES = 1024 * 1024;
/** Maximum size of an entry in a page of changes, bytes. */
const ENTRY_BYTES = 4096;
/** Maximum bytes by which a cleared document may exceed the sent document, because the authority adds to it. */
const ADDED_BYTES = 1024 * 1024;
/** How long all submissions wait after a 429 without `Retry-After`, milliseconds. */
const DEFAULT_BLOCK_MS = 5000;

/**
 * Creates the client of the authority's HTTP protocol, version 1. `outcomes.ts` decides what each answer means. A
 * request is repeated only after a refused token, which proves that the authority did nothing.
 */
export function createHttpAuthority(settings: HttpAuthoritySettings, parts: HttpAuthorityParts): HttpAuthority {
  const { credentials, readReceipt, log, observe = () => undefined, tracing = NO_TRACING, clock } = parts;
  const connection = createConnection(credentials, parts.connection);
  const serverClock = createServerClock(clock);
  const tokens =
    settings.token &&
    createTokenSource(settings.token, {
      connection,
      credentials,
      authorityClock: serverClock,
      ...(clock && { local: clock }),
      ...(parts.tokenTimeoutMs !== undefined && { answerTimeoutMs: parts.tokenTimeoutMs }),
    });
  const base = settings.url.replace(/\/+$/, '');
  const urlOf = (path: string) => new URL(`${base}/v1/${path}`);

  async function once(request: OutgoingRequest): Promise<{ outcome: Outcome; token: string | null }> {
    const authorization = tokens && (await tokens.token());
    if (authorization?.kind === 'no_token') return { outcome: authorization, token: null };
    const token = authorization?.token ?? null;
    const traceparent = currentActivity()?.span?.traceparent;
    const headers = {
      ...request.headers,
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(traceparent !== undefined && { traceparent }),
    };
    const outcome = await connection.exchange({ ...request, headers });
    if (outcome.kind === 'answer') {
      if (isOwn(outcome)) serverClock.learn(outcome.headers.get('date'), outcome.latencyMs);
      else if (outcome.headers.has('authority-protocol')) void capabilities.read();
    }
    return { outcome, token };
  }

  async function call(request: OutgoingRequest): Promise<Outcome> {
    const { outcome, token } = await once(request);
    if (tokens === null || token === null || !isTokenRefusal(outcome)) return outcome;
    tokens.refused(token);
    return (await once(request)).outcome;
  }

  const get = (path: string, accept: string, maxAnswerBytes: number) =>
    call({ url: urlOf(path), method: 'GET', headers: { accept }, maxAnswerBytes });
  const getJson = (path: string, maxAnswerBytes = JSON_BYTES) => get(path, 'application/json', maxAnswerBytes);
  const getXml = (path: string) =>
    get(path, 'application/xml, application/json', capabilities.current().maxDocumentBytes + ADDED_BYTES);

  const capabilities = createCapabilityReader({
    ask: () => getJson('capabilities'),
    log,
    ...(parts.refreshMs !== undefined && { refreshMs: parts.refreshMs }),
  });
  const limits = createLimits({
    limits: () => capabilities.current().limits,
    concurrency: settings.concurrency,
    ...(parts.limitClock && { now: parts.limitClock }),
  });

  /** Measures a call and reports its outcome. Also creates a span, if an invoice that is traced causes the call. */
  async function observed<Result extends { readonly kind: string }>(
    kind: CallKind,
    make: () => Promise<Result>,
  ): Promise<Result> {
    const start = performance.now();
    const activity = currentActivity();
    const parent = activity?.span?.traceparent;
    const span = parent === undefined ? null : tracing.begin(`authority ${kind}`, { kind: 'client', parent });
    try {
      const result = await (span ? within({ ...activity, span }, make) : make());
      const outcome = 'reason' in result ? String(result.reason) : 'deferred' in result ? 'deferred' : result.kind;
      observe(kind, outcome, (performance.now() - start) / 1000);
      span?.set({ 'fatoura.authority.outcome': outcome });
      return result;
    } finally {
      span?.end();
    }
  }

  return {
    capabilities: capabilities.current,

    submit: (submission) =>
      observed('submit', async (): Promise<SubmitAnswer> => {
        const unread = await capabilities.ensure();
        if (unread) return notReady(unread.outcome, unread.trouble, submission);
        const { maxDocumentBytes } = capabilities.current();
        const { document, sha256, submissionId } = submission;
        if (document.length > maxDocumentBytes) {
          const message = `The document has ${document.length} bytes, and the authority takes ${maxDocumentBytes} at most.`;
          return { kind: 'refused', requestId: null, code: 'document_too_large', message };
        }
        const place = limits.submission();
        if (!place.free) {
          const message = `Not sent yet, because of the authority's limit of ${place.why}.`;
          return {
            kind: 'not_held',
            requestId: null,
            reason: 'deferred',
            message,
            retryAfterMs: Math.ceil(place.waitMs),
          };
        }
        try {
          const outcome = await call({
            url: urlOf(`submissions/${encodeURIComponent(submissionId)}`),
            method: 'PUT',
            body: document,
            headers: {
              'content-type': 'application/xml',
              'content-digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`,
              accept: 'application/json',
            },
            maxAnswerBytes: JSON_BYTES,
          });
          const answer = submitOutcome(outcome, submission);
          if (answer.kind === 'not_held' && answer.reason === 'rate_limited') {
            limits.blockSubmissions(answer.retryAfterMs ?? DEFAULT_BLOCK_MS);
          }
          return answer;
        } finally {
          place.end();
        }
      }),

    lookUp: (submission) =>
      observed('look_up', async (): Promise<LookUpAnswer> => {
        const unread = await capabilities.ensure();
        if (unread) return unknown(unread.outcome, unread.trouble);
        const [by] = capabilities.current().lookUp;
        if (by === undefined) return unknownNow('The authority offers no look-up.', null);
        const { submissionId, sha256 } = submission;
        const place = limits.lookUp(submissionId);
        if (!place.free) {
          const message = `Not asked yet, because of the authority's limit of ${place.why}.`;
          return { ...unknownNow(message, Math.ceil(place.waitMs)), deferred: true };
        }
        try {
          const path = by === 'id' ? `submissions/${encodeURIComponent(submissionId)}` : `submissions?digest=${sha256}`;
          const outcome = await getJson(path);
          if (outcome.kind === 'answer' && outcome.status === 429 && isOwn(outcome)) {
            limits.blockLookUps(submissionId, retryAfterOf(outcome) ?? DEFAULT_BLOCK_MS);
          }
          return lookUpOutcome(by, outcome, submission);
        } finally {
          place.end();
        }
      }),

    receipt: ({ dgiId }) =>
      observed('receipt', async (): Promise<ReceiptAnswer> => {
        const unread = await capabilities.ensure();
        if (unread) return unknown(unread.outcome, unread.trouble);
        const answer = documentOutcome(await getXml(`receipts/${encodeURIComponent(dgiId)}`));
        if (answer.kind !== 'document') return answer;
        const { requestId, document } = answer;
        const read = await readReceipt(document);
        if (read.kind === 'receipt' && read.receipt.dgiId !== dgiId) {
          return { kind: 'invalid', requestId, message: `The receipt is that of ${read.receipt.dgiId}.` };
        }
        return { ...read, requestId };
      }),

    cleared: (submissionId) =>
      observed('cleared', async (): Promise<ClearedAnswer> => {
        const unread = await capabilities.ensure();
        if (unread) return unknown(unread.outcome, unread.trouble);
        if (!capabilities.current().clearedDocument) return { kind: 'absent', requestId: null };
        return documentOutcome(await getXml(`submissions/${encodeURIComponent(submissionId)}/cleared`));
      }),

    changes: (after, limit) =>
      observed('changes', async (): Promise<ChangesAnswer> => {
        const query = new URLSearchParams({ ...(after !== null && { after }), limit: String(limit) });
        return changesOutcome(await getJson(`changes?${query}`, JSON_BYTES + limit * ENTRY_BYTES));
      }),

    async probe() {
      const { trouble } = await observed('probe', async () => {
        const { outcome, trouble } = await capabilities.read();
        // A 429 of the authority shows that it responds.
        const answers = trouble === null || (outcome.kind === 'answer' && outcome.status === 429 && isOwn(outcome));
        return { kind: answers ? 'answer' : 'failure', trouble: answers ? null : trouble };
      });
      return trouble;
    },

    setShare: limits.setShare,
    state: () => ({ clockOffsetMs: serverClock.offset(), token: tokens?.state() ?? null }),
    serverCertificates: connection.serverCertificates,
    async close() {
      capabilities.stop();
      await connection.close();
    },
  };
}

/** Returns the answer for a document that was not sent because the capabilities could not be read. */
function notReady(outcome: Outcome, trouble: string | null, sent: Parameters<typeof submitOutcome>[1]): SubmitAnswer {
  const message = trouble ?? '';
  const answer = submitOutcome(outcome, sent);
  if (answer.kind === 'not_held') return { ...answer, message };
  const { requestId } = outcome;
  return { kind: 'not_held', requestId, reason: 'unavailable', message, retryAfterMs: null };
}

function unknown(outcome: Outcome, trouble: string | null): Unknown {
  return { ...unknownOf(outcome), message: trouble ?? '' };
}

function unknownNow(message: string, retryAfterMs: number | null) {
  return { kind: 'unknown', requestId: null, message, retryAfterMs } as const;
}
