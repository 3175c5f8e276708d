import { expect, it } from 'vitest';
import { type Condition, ofState } from '../../../src/domain/conditions/condition.ts';
import type { ConditionCode } from '../../../src/domain/conditions/condition-table.ts';
import { type ConditionsNotice, createTellOwners, type Told } from '../../../src/domain/conditions/tell-owners.ts';
import type { Tenant } from '../../../src/domain/tenant/tenant.ts';

const HOUR = 3_600_000;

/** A tenant that is looked at whenever `look` is called. */
function world() {
  let time = Date.parse('2026-11-30T08:00:00Z');
  let told: Told = { at: null, codes: [] };
  let wrong: readonly Condition[] = [];
  const mails: ConditionsNotice[] = [];
  const reports: string[] = [];
  const state = { owners: ['a@example.com', 'b@example.com'], fails: [] as string[], suspendedAt: null as Date | null };
  const sweep = createTellOwners({
    tellings: {
      take: async () => [{ tenantId: 'ten_1', told }],
      keep: async (_tenantId, kept) => {
        told = kept;
      },
    },
    conditions: async ({ environment }) => (environment === 'live' ? wrong : []),
    tenants: { find: async (id) => ({ id, name: 'T', suspendedAt: state.suspendedAt }) as Tenant },
    ownersOf: async () => state.owners,
    notifier: {
      async conditionsFound(notice) {
        if (state.fails.includes(notice.to)) throw new Error('away');
        mails.push(notice);
      },
    },
    now: () => new Date(time),
    report: (message) => reports.push(message),
  });
  return {
    state,
    reports,
    /** @returns what was mailed to whom: `a@example.com invoices_rejected,calls_throttled` */
    async look(codes: readonly ConditionCode[], hours = 1): Promise<string[]> {
      time += hours * HOUR;
      wrong = codes.flatMap((code) => ofState(code, true, null));
      mails.length = 0;
      await sweep();
      return mails.map(({ to, conditions }) => `${to} ${conditions.map(({ code }) => code).join()}`);
    },
  };
}

it('owners are told once, and again only of what is new, a day later', async () => {
  const { look } = world();
  expect(await look([])).toEqual([]);
  expect(await look(['invoices_rejected'])).toEqual([
    'a@example.com invoices_rejected',
    'b@example.com invoices_rejected',
  ]);
  expect(await look(['invoices_rejected'])).toEqual([]);
  expect(await look(['invoices_rejected'], 30)).toEqual([]);
  expect(await look(['invoices_rejected', 'endpoints_failing'])).toHaveLength(2);
  // Another one within a day waits for its end.
  expect(await look(['invoices_rejected', 'endpoints_failing', 'calls_failing'])).toEqual([]);
  expect((await look(['invoices_rejected', 'endpoints_failing', 'calls_failing'], 24))[0]).toBe(
    'a@example.com invoices_rejected,endpoints_failing,calls_failing',
  );
});

it('what has ended is new when it begins again', async () => {
  const { look } = world();
  expect(await look(['endpoints_failing'])).toHaveLength(2);
  expect(await look([])).toEqual([]);
  expect(await look(['endpoints_failing'])).toEqual([]);
  expect(await look(['endpoints_failing'], 24)).toHaveLength(2);
});

it('nobody is told of what is only worth a look, nor of a suspended tenant', async () => {
  const { look, state } = world();
  expect(await look(['drafts_waiting', 'invoices_warned'])).toEqual([]);
  state.suspendedAt = new Date();
  expect(await look(['invoices_rejected'])).toEqual([]);
  state.suspendedAt = null;
  expect(await look(['invoices_rejected', 'drafts_waiting'])).toEqual([
    'a@example.com invoices_rejected',
    'b@example.com invoices_rejected',
  ]);
});

it('a mail that fails to all is tried again; one that fails to some is reported; without owners nothing is lost', async () => {
  const { look, state, reports } = world();
  state.fails = ['a@example.com', 'b@example.com'];
  expect(await look(['invoices_rejected'])).toEqual([]);
  expect(reports).toHaveLength(1);
  state.fails = ['a@example.com'];
  expect(await look(['invoices_rejected'])).toEqual(['b@example.com invoices_rejected']);
  expect(reports).toHaveLength(2);
  expect(await look(['invoices_rejected'])).toEqual([]);
  const nobody = world();
  nobody.state.owners = [];
  expect(await nobody.look(['invoices_rejected'])).toEqual([]);
  nobody.state.owners = ['c@example.com'];
  expect(await nobody.look(['invoices_rejected'])).toEqual(['c@example.com invoices_rejected']);
});
