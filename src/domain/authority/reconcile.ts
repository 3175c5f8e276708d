import { compareEntry, compareInvoice, RECEIPT_MS } from './compare-entry.ts';
import type { Authority, LedgerEntry } from './ports.ts';
import { LedgerUnreadable, readLedger } from './read-ledger.ts';
import {
  DIFFERENCE_KINDS,
  DIFFERENCES,
  type DifferenceKind,
  type DifferenceRepository,
  type Finding,
  type LedgerCopy,
  type LookUpRule,
  ReconciliationBusy,
  type ReconciliationProgress,
  type ReconciliationRun,
  type ReconciliationState,
  type Transmission,
  type TransmissionReader,
} from './reconciliation.ts';
import { hintRule } from './take-hint.ts';

/** Length of the lease, renewed with each page, milliseconds: longer than a page with all its repeated calls. */
const RECONCILIATION_LEASE_MS = 300_000;
/** A decision that was made at least this long before the ledger was read must be in the ledger, milliseconds. */
const SETTLE_MS = 600_000;
/**
 * Number of runs in a row without a page after which the ledger is read from its start: the cursor may have expired.
 */
const MOST_STALLED = 3;
/** Differences that are examined at a time. */
const BATCH = 500;

export interface ReconcileParts {
  readonly authority: Pick<Authority, 'changes' | 'capabilities'>;
  readonly transmissions: TransmissionReader;
  readonly copy: LedgerCopy;
  readonly differences: DifferenceRepository;
  readonly state: ReconciliationState;
  /** Makes the look-ups of these invoices due where the rule allows it. @returns their number */
  readonly makeLookUpsDue: (invoiceIds: readonly string[], rule: LookUpRule) => Promise<number>;
  readonly report: (event: ReconciliationReport) => void;
  /** Waits, at most until the signal. */
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly clock?: () => Date;
}

/** A log entry for operators. */
export interface ReconciliationReport {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  /** The new difference that it is about. */
  readonly difference?: Finding;
}

export interface ReconcileOptions {
  /**
   * If set, all entries that were decided since this time are compared again, from the start of the ledger, and the
   * cursor of the nightly run does not move. Null: only the entries since the last run are compared.
   */
  readonly since?: Date | null;
  /** Ends the run after the current page. */
  readonly signal?: AbortSignal;
  /** Called after each page with the number of entries and of invoices so far. */
  readonly progress?: (entries: number, invoices: number) => void;
}

/**
 * Compares the authority's ledger with our invoices (docs/decisions/0043). It never writes a status: where the ledger
 * has decided what is undecided here, it makes the look-up due, and the pipeline decides by it. All other differences
 * are stored for operators. A failure of the authority ends the run, keeps what was read, and is in the result.
 * @throws {ReconciliationBusy} when another process reconciles
 */
export type Reconcile = (options?: ReconcileOptions) => Promise<ReconciliationRun>;

export function createReconcile(parts: ReconcileParts): Reconcile {
  const { state, clock = () => new Date() } = parts;
  return async (options = {}) => {
    const begun = await state.begin(RECONCILIATION_LEASE_MS);
    if (!begun) throw new ReconciliationBusy('another process reconciles at the moment');
    const { token, progress: before } = begun;
    try {
      const run = new Run(parts, options, before, token, clock);
      const { result, progress } = await run.all();
      await state.end(token, result, progress);
      parts.report({ level: result.outcome === 'failed' ? 'error' : 'info', message: summaryOf(result) });
      return result;
    } catch (error) {
      await state.release(token).catch(() => undefined);
      throw error;
    }
  };
}

/** One line for the log and the terminal. */
export function summaryOf({ outcome, message, entries, invoices, healed, found, resolved }: ReconciliationRun): string {
  const counts = `${entries} entries read, ${invoices} invoices looked for, ${healed} look-ups made due, ${found} new differences, ${resolved} resolved`;
  return `reconciliation ${outcome}${message === null ? '' : ` (${message})`}: ${counts}`;
}

/** One reconciliation: the ledger, then our decided invoices, then the differences of earlier runs. */
class Run {
  private readonly parts: ReconcileParts;
  private readonly options: ReconcileOptions;
  private readonly before: ReconciliationProgress;
  private readonly token: string;
  private readonly clock: () => Date;
  private readonly startedAt: Date;
  private readonly settledBefore: Date;
  private readonly tally = { entries: 0, changed: 0, invoices: 0, healed: 0, found: 0, resolved: 0, leftOut: 0 };

  constructor(
    parts: ReconcileParts,
    options: ReconcileOptions,
    before: ReconciliationProgress,
    token: string,
    clock: () => Date,
  ) {
    this.parts = parts;
    this.options = options;
    this.before = before;
    this.token = token;
    this.clock = clock;
    this.startedAt = clock();
    this.settledBefore = new Date(this.startedAt.getTime() - SETTLE_MS);
  }

  async all(): Promise<{ result: ReconciliationRun; progress: Partial<ReconciliationProgress> }> {
    const { since = null } = this.options;
    try {
      if (!(await this.readEntries()) || !(await this.lookForInvoices())) return this.ended('stopped', 'interrupted');
      await this.examineDifferences();
    } catch (error) {
      if (!(error instanceof LedgerUnreadable)) throw error;
      const stalled = since === null && this.tally.entries === 0 ? this.before.stalled + 1 : 0;
      return this.ended('failed', `the ledger of the authority cannot be read: ${error.message}`, { stalled });
    }
    // Differences that were left out are found again only if the ledger is read again.
    const again = this.tally.leftOut > 0 ? { cursor: null, checkedUntil: null } : { checkedUntil: this.settledBefore };
    return this.ended('complete', null, { stalled: 0, ...(since === null && again) });
  }

  private ended(
    outcome: ReconciliationRun['outcome'],
    message: string | null,
    progress: Partial<ReconciliationProgress> = {},
  ) {
    const { startedAt } = this;
    return { result: { startedAt, finishedAt: this.clock(), outcome, message, ...this.tally }, progress };
  }

  /** @returns false if the run was ended from outside */
  private async readEntries(): Promise<boolean> {
    const { authority, copy, pause } = this.parts;
    const { since = null, signal } = this.options;
    const resumes = since === null && this.before.stalled < MOST_STALLED;
    for await (const page of readLedger(authority, resumes ? this.before.cursor : null, (ms) => pause(ms, signal))) {
      this.tally.changed += await copy.keep(page.entries);
      this.tally.entries += page.read;
      const compared =
        since === null ? page.entries : page.entries.filter(({ decision }) => decision.decidedAt >= since);
      const ids = compared.map(({ submissionId }) => submissionId);
      await this.observe(await this.examine(ids, compared));
      await this.keepLease(since === null ? { cursor: page.cursor, stalled: 0 } : {});
      if (signal?.aborted) return false;
    }
    return true;
  }

  /** @returns false if the run was ended from outside */
  private async lookForInvoices(): Promise<boolean> {
    const { since = null } = this.options;
    const from = since ?? this.before.checkedUntil ?? new Date(0);
    const windows = [[from, this.settledBefore]] as [Date, Date][];
    // Receipts are due a day after acceptance, so that they are checked a day later.
    windows.push([new Date(from.getTime() - RECEIPT_MS), new Date(this.settledBefore.getTime() - RECEIPT_MS)]);
    for (const [first, last] of windows) {
      for await (const batch of this.parts.transmissions.decided(first, last)) {
        if (last === this.settledBefore) this.tally.invoices += batch.length;
        const ids = batch.map(({ submissionId }) => submissionId);
        await this.observe(await this.examine(ids, await this.parts.copy.find(ids), batch));
        await this.keepLease({});
        if (this.options.signal?.aborted) return false;
      }
    }
    return true;
  }

  /** Resolves the differences that no longer exist. */
  private async examineDifferences(): Promise<void> {
    const { differences, copy } = this.parts;
    for (const kind of DIFFERENCE_KINDS) {
      for (let after: string | null = null; ; ) {
        const found = await differences.unresolved(kind, after, BATCH);
        const ids = found.filter(({ lastSeen }) => lastSeen < this.startedAt).map(({ submissionId }) => submissionId);
        if (ids.length > 0) await this.settle(kind, ids, await this.examine(ids, await copy.find(ids)));
        after = found.at(-1)?.submissionId ?? null;
        if (found.length < BATCH) break;
      }
      await this.keepLease({});
    }
  }

  private async settle(kind: DifferenceKind, ids: readonly string[], findings: readonly Finding[]): Promise<void> {
    const still = findings.filter((finding) => finding.kind === kind);
    await this.observe(still);
    const present = new Set(still.map(({ submissionId }) => submissionId));
    const gone = ids.filter((id) => !present.has(id));
    await this.parts.differences.resolve(kind, gone, this.clock());
    this.tally.resolved += gone.length;
  }

  /**
   * Compares submissions. Our invoices are read together, and a second time if the ledger has ids that we do not
   * follow. Makes the look-ups of undecided invoices due.
   */
  private async examine(
    ids: readonly string[],
    entries: readonly LedgerEntry[],
    known?: readonly Transmission[],
  ): Promise<Finding[]> {
    if (ids.length === 0) return [];
    const { transmissions, makeLookUpsDue, authority } = this.parts;
    const found = known ?? (await transmissions.bySubmission(ids));
    const ours = new Map(found.map((each) => [each.submissionId, each]));
    const strays = entries.filter(({ submissionId }) => !ours.has(submissionId));
    const sameDigest = strays.length > 0 ? await transmissions.byDigest(strays.map(({ sha256 }) => sha256)) : [];
    const byDigest = new Map(sameDigest.map((each) => [each.sha256, each]));
    const byId = new Map(found.map((each) => [each.invoiceId, each]));
    const findings: Finding[] = [];
    const undecided: string[] = [];
    for (const entry of entries) {
      const { submissionId, sha256 } = entry;
      const compared = compareEntry(entry, ours.get(submissionId), byDigest.get(sha256) ?? byId.get(submissionId));
      findings.push(...compared.findings);
      if (compared.undecided) undecided.push(compared.undecided.invoiceId);
    }
    const present = new Set(entries.map(({ submissionId }) => submissionId));
    for (const id of ids) {
      const invoice = ours.get(id);
      if (invoice) findings.push(...compareInvoice(invoice, present.has(id), this.settledBefore, this.startedAt));
    }
    if (undecided.length > 0)
      this.tally.healed += await makeLookUpsDue(undecided, hintRule(authority.capabilities().limits));
    return findings;
  }

  private async observe(findings: readonly Finding[]): Promise<void> {
    if (findings.length === 0) return;
    const { fresh, leftOut } = await this.parts.differences.observe(findings, this.clock());
    this.tally.found += fresh.length;
    this.tally.leftOut += leftOut;
    for (const difference of fresh)
      this.parts.report({ level: 'error', message: DIFFERENCES[difference.kind], difference });
  }

  private async keepLease(progress: Partial<ReconciliationProgress>): Promise<void> {
    await this.parts.state.advance(this.token, RECONCILIATION_LEASE_MS, progress);
    this.options.progress?.(this.tally.entries, this.tally.invoices);
  }
}
