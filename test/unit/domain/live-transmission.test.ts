import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Authority, Decision, LookUpAnswer, SubmitAnswer } from '../../../src/domain/authority/ports.ts';
import { attentionOf } from '../../../src/domain/invoice/attention.ts';
import {
  absent,
  CAPABILITIES,
  digestMismatch,
  duplicate,
  held,
  notHeld,
  refused,
  unknown,
} from '../../support/authority.ts';
import { liveWorld, type WorldOptions } from '../../support/live-world.ts';
import { firstOf } from '../../support/samples.ts';

const HOUR_MS = 3_600_000;
const ACCEPTED: Decision = { outcome: 'accepted', dgiId: 'DGI-1', decidedAt: new Date() };

beforeEach(() => void vi.useFakeTimers({ now: new Date('2026-11-01T08:00:00Z') }));
afterEach(() => void vi.useRealTimers());

type Calls = { call: 'submit' | 'look_up'; id: string; at: number }[];

/** A world whose authority gives these answers to the calls of each invoice, the last one again and again. */
function scripted(
  answers: { submit?: SubmitAnswer[]; lookUp?: LookUpAnswer[]; probe?: Authority['probe'] },
  options: WorldOptions = {},
  parts: Partial<Authority> = {},
) {
  const calls: Calls = [];
  const nth = <Answer>(list: Answer[], call: 'submit' | 'look_up', id: string): Answer => {
    calls.push({ call, id, at: Date.now() });
    const times = calls.filter((each) => each.call === call && each.id === id).length;
    return list[Math.min(times, list.length) - 1] as Answer;
  };
  const world = liveWorld(
    {
      ...parts,
      submit: async ({ submissionId }) => nth(answers.submit ?? [held(ACCEPTED)], 'submit', submissionId),
      lookUp: async ({ submissionId }) => nth(answers.lookUp ?? [absent()], 'look_up', submissionId),
      ...(answers.probe && { probe: answers.probe }),
    },
    options,
  );
  const kinds = () => calls.map(({ call }) => call);
  return { ...world, calls, kinds };
}

const statuses = (world: ReturnType<typeof scripted>, id: string) =>
  world.invoice(id).events.map(({ status }) => status).join(); // biome-ignore format: one line
/** To the tenth of a second: a run begins milliseconds after it is due. */
const tenths = (times: readonly number[]) => times.map((ms) => Math.round(ms / 100) * 100);
const errors = (world: ReturnType<typeof scripted>) => world.reports.filter(({ level }) => level === 'error');

describe("the protocol's outcomes", () => {
  it('200 with a decision: transmitted and accepted, each event once', async () => {
    const world = scripted({});
    await world.start();
    const id = world.add();
    await world.pass(100);
    expect([statuses(world, id), world.kinds()]).toEqual(['transmitted,accepted', ['submit']]);
    expect(world.invoice(id)).toMatchObject({ dgiId: 'DGI-1', heldAs: null });
    await world.stop();
  });

  it('202 without a decision: looked up at the time that the authority names', async () => {
    const world = scripted({ submit: [held(null, 5000)], lookUp: [held(null, 7000), held(ACCEPTED)] });
    await world.start();
    const id = world.add();
    await world.pass(20_000);
    expect(statuses(world, id)).toBe('transmitted,accepted');
    const [sent, ...lookUps] = world.calls.map(({ at }) => at);
    expect(tenths(lookUps.map((at) => at - (sent ?? 0)))).toEqual([5000, 12_000]);
    await world.stop();
  });

  it('400, 413, 415 with an error body: rejected at once, operators are alerted', async () => {
    const world = scripted({ submit: [refused('too_large', 'Le document est trop grand.')] });
    await world.start();
    const id = world.add();
    await world.pass(60_000);
    expect([statuses(world, id), world.kinds()]).toEqual(['rejected', ['submit']]);
    expect(world.invoice(id).rejectionReason).toContain('Le document est trop grand.');
    const problem = { code: 'too_large', path: null, message: 'Le document est trop grand.' };
    expect(world.invoice(id).problems).toEqual([problem]);
    expect(errors(world)).toMatchObject([{ invoiceId: id, message: expect.stringContaining('too_large') }]);
    await world.stop();
  });

  it.each([
    ['401 with a new token', 'token_refused', 0],
    ['403', 'forbidden', 5],
    ['503 unavailable', 'unavailable', 0],
    ['connection refused, nothing sent', 'unreachable', 0],
    ['no token', 'no_token', 0],
  ] as const)('%s: not held, counts an attempt; after five the invoice has failed', async (_, reason, alerts) => {
    const world = scripted({ submit: [notHeld(reason)] });
    await world.start();
    const id = world.add();
    await world.pass(9000);
    expect(world.invoice(id)).toMatchObject({ status: 'signing', work: { outcomeUnknown: false } });
    await world.pass(60_000);
    expect(statuses(world, id)).toBe('rejected');
    expect(world.invoice(id).rejectionReason).toMatch(/^dgi_transmission_failed: /);
    // The last look-up: an earlier submission may have arrived late.
    expect(world.kinds()).toEqual([...Array.from({ length: 5 }, () => 'submit'), 'look_up']);
    const [first] = world.calls;
    expect(tenths(world.calls.map(({ at }) => at - (first?.at ?? 0)))).toEqual([0, 1000, 3000, 6000, 10_000, 10_000]);
    expect(errors(world)).toHaveLength(alerts);
    await world.stop();
  });

  it('409 digest_mismatch: never overwritten, waits for an operator, whose retry sends the same bytes', async () => {
    const world = scripted({ submit: [digestMismatch(), digestMismatch(), held(ACCEPTED)] });
    await world.start();
    const id = world.add();
    const aDay = async () => {
      await world.pass(HOUR_MS);
      world.sleep(22 * HOUR_MS);
      await world.pass(HOUR_MS);
    };
    await aDay();
    expect(world.kinds()).toEqual(['submit']);
    expect(attentionOf(world.invoice(id), new Date())).toMatchObject({ reason: 'digest_mismatch' });
    expect(errors(world)).toMatchObject([
      { message: expect.stringMatching(/if older data was restored, .*never have it/) },
    ]);
    await world.retry(id);
    await aDay();
    expect([world.kinds(), world.invoice(id).status]).toEqual([['submit', 'submit'], 'signing']);
    await world.retry(id);
    await world.pass(1000);
    expect([statuses(world, id), world.kinds().length]).toEqual(['transmitted,accepted', 3]);
    await world.stop();
  });

  it('409 duplicate of this document: held, and followed under the id of the original', async () => {
    const original = 'inv_original';
    const world = scripted({ submit: [held(null, 1000, original)], lookUp: [held(ACCEPTED, null, original)] });
    await world.start();
    const id = world.add();
    await world.pass(10);
    expect(world.invoice(id)).toMatchObject({ status: 'transmitted', heldAs: original });
    await world.pass(2000);
    expect(statuses(world, id)).toBe('transmitted,accepted');
    expect(world.calls.map((call) => call.id)).toEqual([id, original]);
    await world.stop();
  });

  it("409 duplicate of another document: rejected, with the original's id in the reason", async () => {
    const world = scripted({ submit: [duplicate('inv_other')] });
    await world.start();
    const id = world.add();
    await world.pass(60_000);
    expect([statuses(world, id), world.kinds()]).toEqual(['rejected', ['submit']]);
    expect(world.invoice(id).rejectionReason).toContain('inv_other');
    expect(errors(world)).toMatchObject([{ message: expect.stringMatching(/restored, .*numbers continue/) }]);
    await world.stop();
  });

  it('429: everything waits as long as it says, and it counts no attempt', async () => {
    const world = scripted({
      submit: [...Array.from({ length: 9 }, () => notHeld('rate_limited', '429', 30_000)), held(ACCEPTED)],
    });
    await world.start();
    const [first, second] = [world.add(), world.add()];
    await world.pass(29_000);
    expect(world.calls).toHaveLength(2);
    expect(world.invoice(first).work).toMatchObject({ claims: 0, failures: [], attempts: 0 });
    await world.pass(400_000);
    expect([statuses(world, first), statuses(world, second)]).toEqual(['transmitted,accepted', 'transmitted,accepted']);
    const gaps = world.calls.filter(({ id }) => id === first).map(({ at }, i, all) => at - (all[i - 1]?.at ?? at));
    for (const gap of gaps.slice(1)) expect(gap).toBeGreaterThanOrEqual(30_000);
    await world.stop();
  });

  it('held back by our own client: waits, and counts no attempt', async () => {
    const world = scripted({
      submit: [...Array.from({ length: 9 }, () => notHeld('deferred', 'limit', 2000)), held(ACCEPTED)],
    });
    await world.start();
    const id = world.add();
    await world.pass(40_000);
    expect([statuses(world, id), world.kinds().length]).toEqual(['transmitted,accepted', 10]);
    await world.stop();
  });

  it('503 with Retry-After: waits at least that long', async () => {
    const world = scripted({ submit: [notHeld('unavailable', '503', 45_000), held(ACCEPTED)] });
    await world.start();
    const id = world.add();
    await world.pass(60_000);
    expect(statuses(world, id)).toBe('transmitted,accepted');
    const [first, second] = world.calls;
    const waited = (second?.at ?? 0) - (first?.at ?? 0);
    expect([waited >= 45_000, ...tenths([waited])]).toEqual([true, 45_000]);
    await world.stop();
  });

  it('anything else: the outcome is unknown, and a look-up comes before anything is sent again', async () => {
    const found = scripted({ submit: [unknown()], lookUp: [unknown(), held(ACCEPTED)] });
    await found.start();
    const id = found.add();
    await found.pass(60_000);
    expect([statuses(found, id), found.kinds()]).toEqual(['transmitted,accepted', ['submit', 'look_up', 'look_up']]);
    await found.stop();
    const lost = scripted({ submit: [unknown(), held(ACCEPTED)] });
    await lost.start();
    const other = lost.add();
    await lost.pass(60_000);
    expect([statuses(lost, other), lost.kinds()]).toEqual(['transmitted,accepted', ['submit', 'look_up', 'submit']]);
    await lost.stop();
  });

  it('a look-up that tells nothing: asked for as long as it takes, at growing intervals, never sent again', async () => {
    const world = scripted({ submit: [unknown()], lookUp: [unknown()] });
    await world.start();
    const id = world.add();
    await world.pass(120_000);
    expect(world.invoice(id)).toMatchObject({ status: 'signing', work: { outcomeUnknown: true, failures: [1] } });
    expect(world.kinds().filter((kind) => kind === 'submit')).toHaveLength(1);
    expect(attentionOf(world.invoice(id), new Date())?.reason).toBe('outcome_unknown');
    const gaps = world.calls.map(({ at }, i, all) => at - (all[i - 1]?.at ?? at));
    expect(tenths(gaps.slice(1, 6))).toEqual([1000, 2000, 3000, 4000, 4000]);
    await world.stop();
  });

  it('a look-up that finds another document: never believed, but operators learn what it is', async () => {
    const foreign = { ...unknown(), heldDigest: 'ff'.repeat(32) };
    for (const sent of [unknown(), held(null)]) {
      const world = scripted({ submit: [sent], lookUp: [foreign] });
      await world.start();
      const id = world.add();
      await world.pass(600_000);
      expect(world.kinds().filter((kind) => kind === 'submit')).toHaveLength(1);
      expect(attentionOf(world.invoice(id), new Date())?.reason).toBe('digest_mismatch');
      expect(world.invoice(id).authorityAttempts.at(-1)).toMatchObject({ purpose: 'look_up', outcome: 'conflict' });
      await world.stop();
    }
  });

  it('a look-up that our own limits hold back: no call, no failure, and no attempt', async () => {
    let probes = 0;
    const probe = async () => {
      probes++;
      return null;
    };
    const deferred = { ...unknown('not asked yet', 10_000), requestId: null, deferred: true } as const;
    for (const sent of [unknown(), held(null)]) {
      const world = scripted({ submit: [sent], lookUp: [...Array(6).fill(deferred), held(ACCEPTED)], probe });
      await world.start();
      const id = world.add();
      await world.pass(500);
      const before = probes;
      await world.pass(50_000);
      expect(world.invoice(id).authorityAttempts).toHaveLength(1);
      expect(attentionOf(world.invoice(id), new Date())).toBeNull();
      await world.pass(60_000);
      expect([statuses(world, id), probes]).toEqual(['transmitted,accepted', before]);
      const asked = world.invoice(id).authorityAttempts.filter(({ purpose }) => /submit|look_up/.test(purpose));
      expect(asked).toHaveLength(2);
      await world.stop();
    }
  });

  it('a submission that our own limits hold back: no attempt in the record', async () => {
    const kept = { ...notHeld('deferred', 'not sent yet', 2000), requestId: null } as const;
    const world = scripted({ submit: [kept, kept, held(ACCEPTED)] });
    await world.start();
    const id = world.add();
    await world.pass(60_000);
    expect([statuses(world, id), world.kinds().length]).toEqual(['transmitted,accepted', 3]);
    const asked = world.invoice(id).authorityAttempts.filter(({ purpose }) => purpose === 'submit');
    expect(asked.map(({ outcome }) => outcome)).toEqual(['accepted']);
    await world.stop();
  });

  it('an unknown document that was held: operators are alerted, and nothing is sent again', async () => {
    const world = scripted({ submit: [held(null)], lookUp: [absent()] });
    await world.start();
    const id = world.add();
    await world.pass(HOUR_MS);
    expect(world.invoice(id).status).toBe('transmitted');
    expect(world.kinds().filter((kind) => kind === 'submit')).toHaveLength(1);
    expect(errors(world).length).toBeGreaterThan(0);
    await world.stop();
  });

  it('stuck in processing for days: only attention, and nothing is sent again', async () => {
    const world = scripted({ submit: [held(null)], lookUp: [held(null)] });
    await world.start();
    const id = world.add();
    await world.pass(2 * HOUR_MS);
    world.sleep(22 * HOUR_MS);
    await world.pass(2 * HOUR_MS);
    expect(attentionOf(world.invoice(id), new Date())?.reason).toBe('undecided');
    expect(world.kinds().filter((kind) => kind === 'submit')).toHaveLength(1);
    await world.stop();
  });
});

describe('the budget of look-ups', () => {
  const limited = (lookUpsPerSubmissionPerHour: number, decision: 'polling' | 'callback' = 'polling') => ({
    capabilities: () => ({
      ...CAPABILITIES,
      decision,
      limits: { ...CAPABILITIES.limits, lookUpsPerSubmissionPerHour },
    }),
  });
  const mostAnHour = (calls: Calls) => {
    const times = calls.filter(({ call }) => call === 'look_up').map(({ at }) => at);
    return Math.max(...times.map((start) => times.filter((at) => at >= start && at < start + HOUR_MS).length));
  };

  const limits: readonly [number, number | null][] = [
    [10, null],
    [60, 1000],
    [60, null],
    [100, 0],
    [600, 1000],
  ];
  it.each(firstOf(limits, 2))(
    'of %i an hour is never exceeded while a decision is awaited, with a hint of %s ms',
    async (limit, hint) => {
      const undecided = held(null, hint);
      const world = scripted({ submit: [undecided], lookUp: [undecided] }, {}, limited(limit));
      await world.start();
      world.add();
      await world.pass(4 * HOUR_MS);
      expect(mostAnHour(world.calls)).toBeLessThanOrEqual(limit);
      // And it is used: the first look-ups come soon.
      expect(mostAnHour(world.calls)).toBeGreaterThanOrEqual(Math.min(limit, 60) / 3);
      await world.stop();
    },
  );

  it.each(firstOf([1, 700, 2500, 3, 20, 100, 1750, 7000], 3))(
    'of 60 an hour finds a decision of %i s at most a third of that later, with a hint of 1 s and without',
    async (seconds) => {
      for (const hint of [1000, null]) {
        const decidedAt = Date.now() + seconds * 1000;
        const submission = () => held(Date.now() < decidedAt ? null : ACCEPTED, Date.now() < decidedAt ? hint : null);
        const calls: Calls = [];
        const world = liveWorld({
          ...limited(60),
          submit: async () => submission(),
          lookUp: async ({ submissionId: id }) => {
            calls.push({ call: 'look_up', id, at: Date.now() });
            return submission();
          },
        });
        await world.start();
        const id = world.add();
        await world.pass(seconds * 1000);
        // The first look-ups are a second or two apart, and a worker may be a moment late.
        await world.pass(Math.max((seconds * 1000) / 3, hint ?? 2000) + 500);
        expect(world.invoice(id).status).toBe('accepted');
        expect(mostAnHour(calls)).toBeLessThanOrEqual(60);
        await world.stop();
      }
    },
  );

  it('is never exceeded while an outcome is unknown, whatever the schedule and however often a worker is woken', async () => {
    const world = scripted(
      { submit: [unknown()], lookUp: [unknown()] },
      { schedule: [0, 10, 10, 10, 10] },
      limited(10),
    );
    await world.start();
    const id = world.add();
    for (let minute = 0; minute < 120; minute++) {
      await world.pass(60_000);
      await world.retry(id);
    }
    expect(mostAnHour(world.calls)).toBe(10);
    await world.stop();
  });

  it('a look-up that failed is made again soon, also where decisions come by callback, within the budget', async () => {
    for (const decision of ['polling', 'callback'] as const) {
      const lookUp = [unknown(), unknown(), held(null, 1000), unknown()];
      const world = scripted({ submit: [held(null, 1000)], lookUp }, {}, limited(60, decision));
      await world.start();
      world.add();
      await world.pass(4 * HOUR_MS);
      const [submitted, ...times] = world.calls.map(({ at }) => at);
      const gaps = times.map((at, i) => Math.round((at - (times[i - 1] ?? submitted ?? 0)) / 1000));
      const pace = decision === 'callback' ? 60 : 1;
      expect(gaps.slice(0, 8)).toEqual([pace, 1, 2, pace, 1, 2, 4, 8]);
      expect(mostAnHour(world.calls)).toBeLessThanOrEqual(60);
      await world.stop();
    }
  });

  it('where decisions come by callback, polling beside it is slow', async () => {
    const world = scripted({ submit: [held(null, 1000)], lookUp: [held(null, 1000)] }, {}, limited(60, 'callback'));
    await world.start();
    world.add();
    await world.pass(600_000);
    const gaps = world.calls.map(({ at }, i, all) => at - (all[i - 1]?.at ?? at)).slice(1);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(60_000);
    await world.stop();
  });
});
