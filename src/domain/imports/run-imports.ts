import { ServiceError } from '../errors.ts';
import { createBell } from '../kit/bell.ts';
import { every } from '../kit/every.ts';
import { later } from '../later.ts';
import { followImport, pauseOf } from './follow-import.ts';
import type { ImportClaim, ImportProgress } from './import-store.ts';
import { ImportLost } from './import-work.ts';
import { type IssuingImportNeeds, issueImport } from './issue-import.ts';
import { type ReadingNeeds, readImport } from './read-import.ts';

/** Number of imports that a process works on at the same time, each of another tenant. */
const PLACES = 4;
/**
 * How long a lease lasts, and how often it is renewed, milliseconds. After its end another process continues the work.
 */
const [LEASE_MS, RENEWAL_MS] = [15_000, 4000];
/** Pause between two searches for work that this process was not notified of, milliseconds. */
const SEARCH_MS = 1000;
/** Pauses after a failure of the service, and when the tenant may not issue at present, milliseconds. */
const [RETRY_MS, REFUSED_RETRY_MS] = [3000, 30_000];

export interface RunningNeeds extends ReadingNeeds, IssuingImportNeeds {
  /** The time of the store. */
  readonly now: () => Date;
  /** Whether no other process works on imports. */
  readonly alone: boolean;
  readonly report: (message: string, error: unknown) => void;
}

/** Runs the work on imports in this process. */
export interface ImportRunner {
  /** Notifies of new work. Without this call, work is found within a second. */
  wake(): void;
  /** Stops the work in progress. Another process, or the next start, continues it at once. */
  stop(): Promise<void>;
}

/**
 * Works on imports: reads and checks the uploaded ones, issues the started ones, and follows the decisions about their
 * invoices. Works on one import of a tenant at a time, the longest due first.
 */
export function runImports(needs: RunningNeeds): ImportRunner {
  const { imports, now, report } = needs;
  const bell = createBell();
  const end = new AbortController();
  /** The work in progress by tenant. */
  const running = new Map<string, Promise<void>>();

  /** Does the due work of an import. @returns the changes of the import, and when its next work is due */
  async function work(
    claim: ImportClaim,
    signal: AbortSignal,
  ): Promise<{ progress: ImportProgress; dueAt: Date | null }> {
    const { imported } = claim;
    if (imported.status === 'reading') return { progress: (await readImport(needs, claim, signal)) ?? {}, dueAt: null };
    if (imported.status === 'issuing') {
      const progress = await issueImport(needs, claim, signal);
      return { progress: progress ?? {}, dueAt: progress && now() };
    }
    if (imported.status !== 'done') return { progress: {}, dueAt: null };
    const progress = await followImport(needs, claim, signal);
    const pauseMs = pauseOf(imported.startedAt, now());
    return { progress, dueAt: progress.isSettled ? null : later(now(), pauseMs) };
  }

  async function run(claim: ImportClaim): Promise<void> {
    const lost = new AbortController();
    const signal = AbortSignal.any([lost.signal, end.signal]);
    const stopRenewing = every(
      RENEWAL_MS,
      async () => (await imports.renew(claim, now(), LEASE_MS)) || lost.abort(new ImportLost()),
      (error) => report('the lease of an import could not be renewed', error),
    );
    try {
      const { progress, dueAt } = await work(claim, signal);
      await imports.release(claim, progress, dueAt);
      await forget(claim);
    } catch (error) {
      if (error instanceof ImportLost) return forget(claim);
      await imports.release(claim, failureOf(error, end.signal.aborted), retryAt(error));
      if (!end.signal.aborted && !(error instanceof ServiceError))
        report('the work on an import failed and is retried', error);
    } finally {
      await stopRenewing();
    }
  }

  /** Removes verdicts that were written after a person had discarded the import. */
  async function forget({ imported: { id, round, status } }: ImportClaim): Promise<void> {
    if (status === 'reading' && !(await imports.find(id))) await needs.importedInvoices.removeUpTo(id, round);
  }

  function retryAt(error: unknown): Date {
    if (end.signal.aborted) return now();
    return later(now(), error instanceof ServiceError ? REFUSED_RETRY_MS : RETRY_MS);
  }

  async function search(): Promise<void> {
    const free = PLACES - running.size;
    if (free <= 0) return;
    const claims = await imports.claim(now(), LEASE_MS, [...running.keys()], free);
    for (const claim of claims) {
      const { tenantId } = claim.imported;
      const done = run(claim)
        .catch((error: unknown) => report('the work on an import failed and is retried after its lease', error))
        .finally(() => {
          running.delete(tenantId);
          bell.ring();
        });
      running.set(tenantId, done);
    }
  }

  async function loop(): Promise<void> {
    if (needs.alone) await imports.releaseAll(now());
    while (!end.signal.aborted) {
      await search().catch((error: unknown) => report('imports that wait could not be looked for', error));
      await bell.heard(SEARCH_MS);
    }
  }

  const looping = loop().catch((error: unknown) => report('the work on imports could not begin', error));
  return {
    wake: bell.ring,
    async stop() {
      end.abort(new Error('the process stops its work on imports'));
      bell.ring();
      await looping;
      await Promise.all(running.values());
    },
  };
}

/**
 * Returns the visible part of a failure: why a tenant may not issue at present. Other failures are reported to
 * operators only.
 */
function failureOf(error: unknown, isOver: boolean): ImportProgress {
  if (isOver || !(error instanceof ServiceError)) return {};
  return { failure: { code: error.code, facts: { message: error.message } } };
}
