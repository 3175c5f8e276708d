import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { problem, ServiceError, serviceError } from '../../../../src/domain/errors.ts';
import type { Import, ImportedInvoice } from '../../../../src/domain/imports/import.ts';
import type { ImportProgress, RowPlace, VerdictChange } from '../../../../src/domain/imports/import-store.ts';
import { type RunningNeeds, runImports } from '../../../../src/domain/imports/run-imports.ts';
import { anImport, anImportedInvoice } from '../../../support/imports.ts';

const OWNER = { tenantId: 'ten_1', environment: 'test' } as const;
const NOW = new Date('2026-11-30T12:00:00Z');
/** As what another import has issued the same rows. */
const AS_ISSUED = { digest: 'ab', raw: 'cd', number: '2026-000001', date: '2026-11-30', isRejected: false };

/** A runner with one import that is due, and what it has written. */
function running(
  imported: Import,
  changes: {
    issue?: (key: string) => Promise<string>;
    /** The invoices that have a row's place already, by the one that was to have it. */
    taken?: Readonly<Record<string, string>>;
    suspendedAt?: Date;
    isHeld?: boolean;
    invoices?: number;
    isErased?: boolean;
  } = {},
) {
  const rows = new Map<number, ImportedInvoice>();
  for (let nth = 0; nth < (changes.invoices ?? 3); nth++)
    rows.set(nth, anImportedInvoice(OWNER, imported.id, null, 'a', { nth, key: `k${nth}`, verdict: 'ready' }));
  const released: { progress: ImportProgress; dueAt: Date | null }[] = [];
  const claims = new Set<string>();
  const report = vi.fn();
  const removed = vi.fn(async () => undefined);
  let waiting: Import | null = imported;
  const needs = {
    imports: {
      claim: async () => {
        const claims = waiting ? [{ imported: waiting, token: 't' }] : [];
        waiting = null;
        return claims;
      },
      renew: async () => true,
      save: async () => changes.isHeld ?? true,
      release: async (_claim: unknown, progress: ImportProgress, dueAt: Date | null) => {
        released.push({ progress, dueAt });
      },
      releaseAll: async () => undefined,
      find: async () => (changes.isErased ? null : imported),
    },
    importedInvoices: {
      page: async () => ({ rows: [...rows.values()].filter(({ verdict }) => verdict === 'ready').slice(0, 96) }),
      counts: async () => imported.counts,
      removeUpTo: removed,
      change: async (_imported: unknown, verdicts: readonly VerdictChange[]) => {
        for (const { nth, ...change } of verdicts) rows.set(nth, { ...rows.get(nth), ...change } as ImportedInvoice);
      },
    },
    issuedRows: {
      claim: async (_owner: unknown, claimed: readonly RowPlace[]) => {
        for (const { invoiceId } of claimed) claims.add(invoiceId);
        return claimed.map((each) => {
          const invoiceId = changes.taken?.[each.invoiceId];
          return invoiceId === undefined ? null : { ...each, key: invoiceId.slice(4), invoiceId };
        });
      },
      release: async (_owner: unknown, freed: readonly RowPlace[]) => {
        for (const { invoiceId } of freed) claims.delete(invoiceId);
      },
    },
    invoicing: {
      idOf: (_owner: unknown, key: string) => `inv ${key}`,
      issuedAs: async (ids: readonly string[]) =>
        new Map(ids.filter((id) => id.includes('other')).map((id) => [id, AS_ISSUED])),
      issue: async (_by: unknown, { key }: { key: string }) => {
        const invoiceId = (await changes.issue?.(key)) ?? `inv ${key}`;
        const isOwn = !/other/.test(invoiceId);
        return { invoiceId, isOwn, present: isOwn ? null : AS_ISSUED };
      },
    },
    tenants: {
      find: async () =>
        changes.isErased ? null : { id: 'ten_1', profile: {}, suspendedAt: changes.suspendedAt ?? null },
    },
    inTurn: () => (work: () => Promise<void>) => work(),
    now: () => NOW,
    alone: true,
    report,
  } as unknown as RunningNeeds;
  return {
    runner: runImports(needs),
    released,
    report,
    removed,
    claims,
    verdicts: () => [...rows.values()].map(({ verdict }) => verdict),
  };
}

const issuing = () => anImport(OWNER, 'a', { status: 'issuing' });

it('issues what is ready, refuses what cannot be issued any more, and is due at once for the decisions', async () => {
  const issue = async (key: string) => {
    if (key === 'k1') throw serviceError('duplicate_number', 'number 1 is already used.', 'number');
    return `inv ${key}`;
  };
  const { runner, released, verdicts } = running(issuing(), { issue });
  await vi.waitFor(() => expect(released).toHaveLength(1));
  expect(verdicts()).toEqual(['issued', 'refused', 'issued']);
  expect(released[0]).toMatchObject({ progress: { status: 'done', failure: null, counts: { issued: 2, refused: 1 } } });
  expect(released[0]?.dueAt).toEqual(NOW);
  await runner.stop();
});

it('counts what another import of the same file has issued meanwhile as known', async () => {
  const issue = async (key: string) => (key === 'k1' ? 'other' : `inv ${key}`);
  const { runner, released, verdicts } = running(issuing(), { issue });
  await vi.waitFor(() => expect(released).toHaveLength(1));
  expect(verdicts()).toEqual(['issued', 'known', 'issued']);
  expect(released[0]?.progress.counts).toMatchObject({ issued: 2, known: 1 });
  await runner.stop();
});

it('removes what it has written of an import that was discarded meanwhile', async () => {
  const { runner, removed } = running(anImport(OWNER, 'a', { status: 'reading' }), { isErased: true });
  await vi.waitFor(() => expect(removed).toHaveBeenCalledOnce());
  await runner.stop();
});

it('waits while the tenant may not issue, and says why', async () => {
  const { runner, released, report, verdicts } = running(issuing(), { suspendedAt: NOW });
  await vi.waitFor(() => expect(released).toHaveLength(1));
  expect(verdicts()).toEqual(['ready', 'ready', 'ready']);
  expect(released[0]?.progress.failure).toMatchObject({ code: 'tenant_suspended' });
  expect(released[0]?.dueAt?.getTime()).toBe(NOW.getTime() + 30_000);
  expect(report).not.toHaveBeenCalled();
  await runner.stop();
});

it('tries again after a failure of the service, and keeps what was issued before it', async () => {
  const issue = (key: string) => (key === 'k1' ? Promise.reject(new Error('away')) : Promise.resolve(`inv ${key}`));
  const { runner, released, report, claims, verdicts } = running(issuing(), { issue });
  await vi.waitFor(() => expect(released).toHaveLength(1));
  expect(verdicts()).toEqual(['issued', 'ready', 'issued']);
  // Its process may have died after it was stored.
  expect([...claims]).toEqual(['inv k0', 'inv k1', 'inv k2']);
  expect(released[0]?.progress).toEqual({});
  expect(released[0]?.dueAt?.getTime()).toBe(NOW.getTime() + 3000);
  expect(report).toHaveBeenCalledOnce();
  await runner.stop();
});

it('takes a row that another import has issued meanwhile for known, and frees those that are refused', async () => {
  const refusal = new ServiceError([problem('duplicate_number', 'taken', 'number')]);
  const issue = (key: string) => (key === 'k1' ? Promise.reject(refusal) : Promise.resolve(`inv ${key}`));
  const { runner, released, claims, verdicts } = running(issuing(), { issue, taken: { 'inv k0': 'inv other' } });
  await vi.waitFor(() => expect(released).toHaveLength(1));
  expect(verdicts()).toEqual(['known', 'refused', 'issued']);
  expect([...claims]).toEqual(['inv k0', 'inv k2']);
  await runner.stop();
});

it('ends its work when it stops, so that another process goes on at once', async () => {
  const { runner, released, report, verdicts } = running(issuing(), { invoices: 1000 });
  await vi.waitFor(() => expect(verdicts()).toContain('issued'));
  await runner.stop();
  expect(released).toEqual([{ progress: {}, dueAt: NOW }]);
  expect(verdicts()).toContain('ready');
  expect(report).not.toHaveBeenCalled();
});

it('leaves an import that another process has by now', async () => {
  const issue = (key: string) => sleep(20).then(() => `inv ${key}`);
  const { runner, released, verdicts } = running(issuing(), { isHeld: false, invoices: 1000, issue });
  await vi.waitFor(() => expect(verdicts()).toContain('issued'));
  const ready = () => verdicts().filter((verdict) => verdict === 'ready').length;
  // It learns of the loss with its next write of progress.
  const left = await vi.waitFor(
    async () => {
      const before = ready();
      await sleep(150);
      expect(ready()).toBe(before);
      return before;
    },
    { timeout: 15_000 },
  );
  expect(left).toBeGreaterThan(0);
  await runner.stop();
  expect(released).toEqual([]);
});
