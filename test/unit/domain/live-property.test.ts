import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Decision, LookUpAnswer, SubmitAnswer } from '../../../src/domain/authority/ports.ts';
import { absent, held, notHeld, unknown } from '../../support/authority.ts';
import { liveWorld } from '../../support/live-world.ts';
import { sampled } from '../../support/samples.ts';

beforeEach(() => void vi.useFakeTimers({ now: new Date('2026-11-01T08:00:00Z') }));
afterEach(() => void vi.useRealTimers());

const ACCEPTED: Decision = { outcome: 'accepted', dgiId: 'DGI-1', decidedAt: new Date() };

/** What becomes of a submission; `lost`: taken, but the reply is lost; `timed_out`: not taken, and no reply either. */
const SUBMIT = ['taken', 'lost', 'timed_out', 'unavailable', 'unreachable', 'rate_limited'] as const;
type Submit = (typeof SUBMIT)[number];

interface Scenario {
  readonly invoices: number;
  readonly concurrency: number;
  readonly workers: number;
  /** By turns; each call takes the next one. */
  readonly submits: readonly { readonly outcome: Submit; readonly ms: number }[];
  readonly lookUps: readonly boolean[];
  readonly probes: readonly boolean[];
}

const oftenTrue = fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) });

const scenario: fc.Arbitrary<Scenario> = fc.record({
  invoices: fc.integer({ min: 1, max: 8 }),
  concurrency: fc.integer({ min: 1, max: 5 }),
  workers: fc.integer({ min: 1, max: 2 }),
  submits: fc.array(
    fc.record({
      outcome: fc.oneof(
        { weight: 2, arbitrary: fc.constantFrom(...SUBMIT) },
        { weight: 4, arbitrary: fc.constant('unavailable' as const) },
      ),
      ms: fc.integer({ min: 1, max: 40_000 }),
    }),
    { minLength: 10, maxLength: 120 },
  ),
  lookUps: fc.array(oftenTrue, { maxLength: 20 }),
  probes: fc.array(oftenTrue, { maxLength: 30 }),
});

type Entry =
  | { readonly kind: 'failure' | 'success'; readonly id: string; readonly began: number }
  | { readonly kind: 'opened' | 'closed' };

/** What happened at the authority, kept by the authority itself. */
function record() {
  const log: Entry[] = [];
  return {
    log,
    /**
     * The failed submissions of an invoice that lie outside of all outages. An outage is from the first failure after the
     * last answered submission before the breaker opened until it closed; a submission that overlaps it is in it.
     */
    countable(id: string): number {
      const outages: [number, number][] = [];
      for (const [index, { kind }] of log.entries()) {
        if (kind !== 'opened') continue;
        const success = log
          .slice(0, index)
          .findLastIndex((entry) => entry.kind === 'success' || entry.kind === 'closed');
        const first = log.findIndex((entry, i) => i > success && entry.kind === 'failure');
        const end = log.findIndex((entry, i) => i > index && entry.kind === 'closed');
        outages.push([Math.min(first, index), end < 0 ? Number.POSITIVE_INFINITY : end]);
      }
      return log.filter((entry, index) => {
        if (entry.kind !== 'failure' || entry.id !== id) return false;
        return !outages.some(([from, to]) => index >= from && index <= to);
      }).length;
    },
  };
}

async function play({ invoices, concurrency, workers, submits, lookUps, probes }: Scenario) {
  const ledger = new Set<string>();
  const open = new Set<string>();
  const blind: string[] = [];
  const { log, countable } = record();
  let [submitted, lookedUp, probed] = [0, 0, 0];
  const wait = (ms: number) => new Promise((done) => setTimeout(done, ms));
  const world = liveWorld(
    {
      async submit({ submissionId: id }): Promise<SubmitAnswer> {
        if (open.has(id)) blind.push(id);
        const { outcome, ms } = submits[submitted++] ?? { outcome: 'taken', ms: 5 };
        const began = log.length;
        await wait(ms);
        if (outcome === 'taken' || outcome === 'lost') ledger.add(id);
        if (outcome === 'rate_limited') return notHeld(outcome, outcome, 2000);
        log.push({ kind: outcome === 'taken' ? 'success' : 'failure', id, began });
        if (outcome === 'taken') return held(ACCEPTED);
        if (outcome === 'unavailable' || outcome === 'unreachable') return notHeld(outcome);
        open.add(id);
        return unknown(outcome);
      },
      async lookUp({ submissionId: id }): Promise<LookUpAnswer> {
        await wait(7);
        if (lookUps[lookedUp++] === false) return unknown();
        open.delete(id);
        return ledger.has(id) ? held(ACCEPTED) : absent();
      },
      async probe() {
        await wait(3);
        return probes[probed++] === false ? 'away' : null;
      },
    },
    { concurrency, workers, schedule: [0, 1000, 20_000, 60_000, 120_000] },
  );
  let phase = 'closed';
  const { update } = world.state;
  world.state.update = async (transition) => {
    const after = await update(transition);
    const { breaker } = world.state.current;
    if (phase === 'closed' && breaker.phase !== 'closed') log.push({ kind: 'opened' });
    if (phase !== 'closed' && breaker.phase === 'closed') log.push({ kind: 'closed' });
    phase = breaker.phase;
    return after;
  };
  await world.start();
  const ids = Array.from({ length: invoices }, () => world.add());
  const isOpen = () => ids.some((id) => !['accepted', 'rejected'].includes(world.invoice(id).status));
  for (let minute = 0; minute < 6 * 60 && isOpen(); minute++) await world.pass(60_000);
  await world.stop();
  return { world, ids, ledger, open, blind, countable };
}

it('no invoice fails for good but after five failures outside of all outages, with every outcome known', async () => {
  let finals = 0;
  await fc.assert(
    fc.asyncProperty(scenario, async (given) => {
      const { world, ids, ledger, open, blind, countable } = await play(given);
      expect(world.failures).toEqual([]);
      expect(blind).toEqual([]);
      for (const id of ids) {
        const { status, events, rejectionReason } = world.invoice(id);
        expect(['accepted', 'rejected']).toContain(status);
        expect(events.map((event) => event.status)).toEqual(
          status === 'accepted' ? ['transmitted', 'accepted'] : ['rejected'],
        );
        expect(status === 'accepted').toBe(ledger.has(id));
        if (status === 'accepted') continue;
        finals++;
        expect(rejectionReason).toMatch(/^dgi_transmission_failed: /);
        expect(open.has(id)).toBe(false);
        expect(countable(id)).toBeGreaterThanOrEqual(5);
      }
    }),
    { numRuns: Number(process.env.BREAKER_RUNS ?? sampled(1000)) },
  );
  // Otherwise the property would hold of nothing.
  expect(finals).toBeGreaterThan(0);
}, 120_000);
