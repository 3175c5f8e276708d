import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { confirmed } from '../../../src/domain/authority/breaker.ts';
import { createLiveGate } from '../../../src/domain/authority/live-gate.ts';
import type { Decision } from '../../../src/domain/authority/ports.ts';
import { NEW_WORK } from '../../../src/domain/invoice/invoice.ts';
import { absent, answering, CAPABILITIES, held, notHeld, unknown } from '../../support/authority.ts';
import { liveWorld, memoryState } from '../../support/live-world.ts';

const ACCEPTED: Decision = { outcome: 'accepted', dgiId: 'DGI-1', decidedAt: new Date() };
const MINUTE = 60_000;

beforeEach(() => void vi.useFakeTimers({ now: new Date('2026-11-01T08:00:00Z') }));
afterEach(() => void vi.useRealTimers());

const RATE_LIMITED = (retryAfterMs: number) => notHeld('rate_limited', 'rate_limited', retryAfterMs);

function gateOf(state = memoryState(), authority = answering({})) {
  return createLiveGate({ store: state, authority, workers: () => 1, concurrency: 2, report: () => undefined });
}

/** Waits for what a failure leads to: two probes, a second apart, confirm it. */
async function settled<T>(work: Promise<T> | undefined): Promise<T | undefined> {
  await vi.advanceTimersByTimeAsync(2000);
  return work;
}

/** A failure that probes confirm, then a probe that answers: half-open. */
async function halfOpen(state = memoryState()) {
  let trouble: string | null = 'away';
  const gate = gateOf(state, answering({ probe: async () => trouble }));
  await gate.refresh();
  const pass = await gate.enter('inv_1');
  await settled(pass?.submitted(notHeld('unavailable')));
  pass?.leave();
  expect(state.current.breaker.phase).toBe('open');
  trouble = null;
  await vi.advanceTimersByTimeAsync(1000);
  await gate.probe();
  expect(state.current.breaker.phase).toBe('half_open');
  return gate;
}

it('five known failures and a last look-up that fails: not final, because an earlier submission may have arrived late', async () => {
  let [sent, holds, answers] = [0, false, true];
  const world = liveWorld({
    async submit() {
      sent++;
      if (sent === 1) return unknown('time-out');
      // The first submission arrives.
      if (sent === 5) [holds, answers] = [true, false];
      return notHeld('unavailable');
    },
    lookUp: async () => (answers ? (holds ? held(ACCEPTED) : absent()) : unknown('time-out')),
  });
  await world.start();
  const id = world.add();
  await world.pass(10 * MINUTE);
  expect(sent).toBe(5);
  expect(world.invoice(id)).toMatchObject({ status: 'signing', work: { outcomeUnknown: true } });
  answers = true;
  await world.pass(10 * MINUTE);
  expect(world.invoice(id).status).toBe('accepted');
  expect(sent).toBe(5);
  await world.stop();
});

it('429 with Retry-After: 0 is no reason to send as fast as it answers', async () => {
  const gate = gateOf();
  await gate.refresh();
  const pass = await gate.enter('inv_1');
  await pass?.submitted(RATE_LIMITED(0));
  pass?.leave();
  await vi.advanceTimersByTimeAsync(900);
  expect(await gate.enter('inv_2')).toBeNull();
  await vi.advanceTimersByTimeAsync(100);
  expect(await gate.enter('inv_2')).not.toBeNull();
});

it('a late 429 with a short wait does not shorten a longer one', async () => {
  const gate = gateOf();
  await gate.refresh();
  const [one, other] = [await gate.enter('inv_1'), await gate.enter('inv_2')];
  await one?.submitted(RATE_LIMITED(MINUTE));
  await other?.submitted(RATE_LIMITED(1000));
  await vi.advanceTimersByTimeAsync(1500);
  expect(gate.lookUpWait()).toBeGreaterThan(50_000);
});

it('decisions are looked up while the only invoices that wait fail each time and keep the breaker open', async () => {
  let away = true;
  const world = liveWorld({
    submit: async () => notHeld('unavailable'),
    lookUp: async () => (away ? unknown() : held(ACCEPTED)),
    probe: async () => (away ? 'away' : null),
  });
  await world.start();
  for (let i = 0; i < 3; i++) world.add();
  await world.pass(MINUTE);
  const now = new Date();
  const work = { ...NEW_WORK, stage: 'decide', dueAt: now, claims: 0, since: now } as const;
  const decided = world.add({ status: 'transmitted', work });
  await world.pass(MINUTE);
  expect(world.invoice(decided).status).toBe('transmitted');
  away = false;
  await world.pass(10 * MINUTE);
  expect(world.state.current.breaker.phase).not.toBe('closed');
  expect(world.invoice(decided).status).toBe('accepted');
  await world.stop();
});

it('a look-up that the authority limits for an hour holds up nothing else, also if no probe is answered', async () => {
  const limited = { ...unknown('429', 60 * MINUTE), rateLimited: true } as const;
  const stages = [
    { stage: 'decide', status: 'transmitted', outcomeUnknown: false },
    { stage: 'transmit', status: 'signing', outcomeUnknown: true },
    { stage: 'receipt', status: 'accepted', outcomeUnknown: false },
  ] as const;
  for (const { status, ...at } of stages) {
    const world = liveWorld({
      lookUp: async () => limited,
      receipt: async () => limited,
      submit: async () => held(ACCEPTED),
      probe: async () => 'lost',
    });
    await world.start();
    const now = new Date();
    const work = { ...NEW_WORK, ...at, dueAt: now, claims: 0, since: now };
    const id = world.add({ status, work, ...(status === 'accepted' && { dgiId: 'DGI-1' }) });
    await world.pass(5000);
    const other = world.add();
    await world.pass(5000);
    expect([at.stage, world.state.current.breaker.opened, world.invoice(other).status]).toEqual([
      at.stage,
      0,
      'accepted',
    ]);
    expect(world.invoice(id)).toMatchObject({ status, work: at });
    await world.stop();
  }
});

describe('the one place of a half-open breaker', () => {
  it('is free at once after a rate limit, which is neither a failure nor a success', async () => {
    const gate = await halfOpen();
    const trial = await gate.enter('inv_2');
    expect(await gate.enter('inv_3')).toBeNull();
    await trial?.submitted(RATE_LIMITED(1000));
    trial?.leave();
    await vi.advanceTimersByTimeAsync(1000);
    expect(await gate.enter('inv_3')).not.toBeNull();
  });

  it('closes it when a look-up proves that the authority holds the document', async () => {
    const state = memoryState();
    const gate = await halfOpen(state);
    const trial = await gate.enter('inv_2');
    await trial?.found();
    trial?.leave();
    expect(state.current.breaker.phase).toBe('closed');
  });
});

it('a state that was read before the breaker opened, and arrives after, lets nothing in', async () => {
  const state = memoryState();
  const gate = gateOf(state, answering({ probe: async () => 'away' }));
  await gate.refresh();
  const stale = state.current;
  const pass = await gate.enter('inv_1');
  await settled(pass?.submitted(notHeld('unavailable')));
  pass?.leave();
  state.read = async () => stale;
  await gate.refresh();
  expect(gate.isShut()).toBe(true);
  expect(await gate.enter('inv_2')).toBeNull();
});

it('an invoice is not failed for good by a worker that has not heard of the outage yet', async () => {
  const state = memoryState();
  const gate = gateOf(state);
  await gate.refresh();
  const failures: number[] = [];
  for (let i = 0; i < 5; i++) {
    const pass = await gate.enter('inv_1');
    failures.push((await settled(pass?.submitted(notHeld('unavailable')))) ?? 0);
    pass?.leave();
  }
  expect(gate.counted(failures)).toHaveLength(5);
  // Another worker opens the breaker.
  const other = gateOf(state, answering({ probe: async () => 'away' }));
  await other.refresh();
  await settled(other.lookUpFailed(null));
  expect(gate.counted(failures)).toHaveLength(5);
  expect(await gate.conclude(failures, 5)).toBe(false);
  expect(gate.counted(failures)).toEqual([]);
});

it('the last of five failures is not final if another worker has opened the breaker meanwhile', async () => {
  let isAway = true;
  const world = liveWorld({
    submit: async () => (isAway ? notHeld('unavailable') : held(ACCEPTED)),
    // The look-up after the last failure: this worker does not hear of what another one learns during it.
    async lookUp() {
      await world.state.update((state) => ({
        next: confirmed(state, { number: null, opened: state.opened, at: new Date(), retryAfterMs: null }),
        result: null,
      }));
      return absent();
    },
  });
  await world.start();
  const id = world.add();
  await world.pass(10_500);
  expect(world.invoice(id).authorityAttempts.filter(({ purpose }) => purpose === 'submit')).toHaveLength(5);
  expect(world.invoice(id)).toMatchObject({ status: 'signing', work: { failures: [], claims: 0 } });
  isAway = false;
  await world.pass(MINUTE);
  expect(world.invoice(id).status).toBe('accepted');
  await world.stop();
});

it('a look-up that the client kept back is no call and no failure: no probe, no entry, no part of the budget', async () => {
  const [kept, probe] = [{ ...unknown('Not asked yet.', 5000), requestId: null, deferred: true } as const, vi.fn()];
  const world = liveWorld({ lookUp: async () => kept, probe: async () => probe() ?? null });
  await world.start();
  const now = new Date();
  const at = (stage: 'decide' | 'transmit') =>
    ({ ...NEW_WORK, stage, dueAt: now, claims: 0, since: now, outcomeUnknown: stage === 'transmit' }) as const;
  const ids = [world.add({ status: 'transmitted', work: at('decide') }), world.add({ work: at('transmit') })];
  await world.pass(10 * MINUTE);
  for (const id of ids) {
    expect(world.invoice(id).authorityAttempts).toEqual([]);
  }
  expect(probe).not.toHaveBeenCalled();
  await world.stop();
});

it('a worker that probes for long stays one of those that share the places', async () => {
  let away = true;
  let [inFlight, most] = [0, 0];
  const wait = (ms: number) => new Promise((done) => setTimeout(done, ms));
  const world = liveWorld(
    {
      async submit() {
        most = Math.max(most, ++inFlight);
        await wait(300);
        inFlight--;
        return away ? notHeld('unavailable') : held(ACCEPTED);
      },
      async probe() {
        await wait(25_000);
        return away ? 'away' : null;
      },
    },
    { concurrency: 4, workers: 2 },
  );
  await world.start();
  for (let i = 0; i < 60; i++) world.add();
  await world.pass(5 * MINUTE);
  expect(world.state.current.breaker.phase).toBe('open');
  away = false;
  most = 0;
  await world.pass(5 * MINUTE);
  expect(world.all().every(({ status }) => status === 'accepted')).toBe(true);
  expect(most).toBeLessThanOrEqual(4);
  await world.stop();
});

it('places are no more than the authority allows, whatever is configured', async () => {
  const capabilities = { ...CAPABILITIES, limits: { ...CAPABILITIES.limits, concurrent: 1 } };
  const gate = gateOf(memoryState(), answering({ capabilities: () => capabilities }));
  await gate.refresh();
  expect(gate.places()).toBe(1);
  expect(await gate.enter('inv_1')).not.toBeNull();
  expect(await gate.reserve('inv_2')).toBe(false);
});
