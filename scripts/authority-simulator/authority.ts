import { type Answer, errorAnswer } from './answer.ts';
import type { Clock } from './clock.ts';
import type { Counters } from './counters.ts';
import { createDecisions, type Decisions } from './decisions.ts';
import type { Examiner } from './examiner.ts';
import type { Identity } from './identity.ts';
import type { Decided, Entry, Ledger, Part } from './ledger.ts';
import { createLookUps, type LookUps } from './look-ups.ts';
import type { Configuration } from './options.ts';
import { clearedDocument, receiptFacts, signReceipt } from './papers.ts';
import { type SubmissionBody, submissionBody } from './submission.ts';
import { createSubmit, type Submit } from './submit.ts';

/** The scopes of maintenance: no call, submissions only, or every call but the status page is out of service. */
export const MAINTENANCE_SCOPES = ['off', 'submissions', 'all'] as const;
export interface Maintenance {
  readonly scope: (typeof MAINTENANCE_SCOPES)[number];
  /** RFC 3339, or null: the end that the status page announces. */
  readonly until: string | null;
  /** Seconds, of `Retry-After`. */
  readonly retryAfter: number;
}
export const NO_MAINTENANCE: Maintenance = { scope: 'off', until: null, retryAfter: 60 };

/** The behaviour of the authority, without HTTP: its calls once they are authenticated and their faults chosen. */
export interface SimulatedAuthority {
  capabilities(): Answer;
  readonly submit: Submit;
  readonly lookUps: LookUps;
  cleared(id: string): Promise<Answer>;
  receipt(dgiId: string): Promise<Answer>;
  changes(query: URLSearchParams): Answer;
  status(): Answer;
  /** Returns a submission as the protocol shows it now. */
  show(entry: Entry): SubmissionBody;
  readonly decisions: Decisions;
  maintenance: Maintenance;
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
  const { config, clock, ledger, counters, identity, onDecided } = parts;
  const decisions = createDecisions(ledger, clock, onDecided);
  const show = (entry: Entry, pending?: 'received') =>
    submissionBody(entry, clock.steady(), config.profile !== 'callback', pending);
  const keep = createKeeper(ledger);
  const isSynchronous = config.profile === 'synchronous';

  return {
    capabilities: () => capabilities(config),
    submit: createSubmit({ ...parts, decisions, show }),
    lookUps: createLookUps(config, clock, ledger, counters, show),
    async cleared(id) {
      const entry = ledger.byId.get(id);
      if (entry === undefined) return errorAnswer(404, 'unknown_submission');
      if (!isSynchronous || entry.decided?.status !== 'accepted') return errorAnswer(404, 'no_cleared_document');
      const xml = await keep(entry, 'cleared', async () => {
        const document = await ledger.read(entry, 'document');
        return document && clearedDocument(document, receiptFacts(entry), identity.receipts, clock.now());
      });
      return xml === null ? errorAnswer(404, 'no_cleared_document') : { status: 200, body: { xml } };
    },
    async receipt(dgiId) {
      const entry = ledger.byDgiId.get(dgiId);
      if (entry === undefined) return errorAnswer(404, 'unknown_receipt');
      const xml = await keep(entry, 'receipt', () => signReceipt(receiptFacts(entry), identity.receipts, clock.now()));
      return xml === null ? errorAnswer(404, 'unknown_receipt') : { status: 200, body: { xml } };
    },
    changes: (query) => changes(ledger, query, show),
    status() {
      const { scope, until } = this.maintenance;
      const status = { off: 'up', submissions: 'degraded', all: 'maintenance' }[scope];
      return { status: 200, body: { json: { status, until } } };
    },
    show,
    decisions,
    maintenance: NO_MAINTENANCE,
  };
}

function capabilities({ profile, maxDocumentBytes, limits }: Configuration): Answer {
  const json = {
    protocol: '1',
    decision: profile,
    lookup: profile === 'synchronous' ? ['id'] : ['id', 'digest'],
    cleared_document: profile === 'synchronous',
    max_document_bytes: maxDocumentBytes,
    limits,
  };
  return { status: 200, body: { json } };
}

/** Returns a page of decisions; a cursor is the position of the last decision before it. */
function changes({ decisions }: Ledger, query: URLSearchParams, show: (entry: Entry) => SubmissionBody): Answer {
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
}

type Keep = (entry: Entry, part: Part, make: () => Promise<Uint8Array | null>) => Promise<Uint8Array | null>;

/** Makes each document once: it stays the same, even if the signing key changes later. */
function createKeeper(ledger: Ledger): Keep {
  const making = new Map<string, Promise<Uint8Array | null>>();

  async function makeOnce(...[entry, part, make]: Parameters<Keep>): Promise<Uint8Array | null> {
    const kept = await ledger.read(entry, part);
    if (kept !== null) return kept;
    const made = await make();
    if (made !== null) await ledger.keep(entry, part, made);
    return made;
  }

  return (entry, part, make) => {
    const key = `${part} ${entry.received.id}`;
    const current = making.get(key) ?? makeOnce(entry, part, make).finally(() => making.delete(key));
    making.set(key, current);
    return current;
  };
}
