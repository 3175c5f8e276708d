import { describe, expect, it } from 'vitest';
import {
  type BreakerState,
  beginning,
  CLOSED,
  concluded,
  confirmed,
  countedFailures,
  failed,
  LAST_PROBE_MS,
  LONGEST_WAIT_MS,
  MOST_OUTAGES,
  probeClaimed,
  probed,
  probeIsDue,
  succeeded,
  trialClaimed,
  trialReleased,
} from '../../../src/domain/authority/breaker.ts';

const START = Date.parse('2026-11-01T08:00:00Z');
const at = (seconds: number) => new Date(START + seconds * 1000);

/** A submission that began in this state and fails. */
function fail(
  state: BreakerState,
  invoiceId: string,
  seconds: number,
  options: { trial?: boolean; wait?: number } = {},
) {
  const began = beginning(state, options.trial ?? false);
  return failed(state, { invoiceId, at: at(seconds), began, retryAfterMs: options.wait ?? null }).state;
}

/** An open breaker: five failures, of a, b and c. */
function opened(state = CLOSED, seconds = 0): BreakerState {
  return ['a', 'a', 'b', 'c', 'a'].reduce((next, id, i) => fail(next, id, seconds + i), state);
}

function closedAgain(state: BreakerState, seconds: number): BreakerState {
  const half = probed(state, at(seconds), true);
  return succeeded(half, beginning(half, true), at(seconds));
}

describe('a closed breaker', () => {
  it('opens after five failures in a row, of three invoices', () => {
    const four = ['a', 'b', 'c', 'a'].reduce((state, id, i) => fail(state, id, i), CLOSED);
    expect(four.phase).toBe('closed');
    expect(fail(four, 'b', 9)).toMatchObject({ phase: 'open', outages: [{ since: at(0), until: null }], opened: 1 });
  });

  it('does not open for two invoices, however often they fail', () => {
    const state = Array.from({ length: 20 }, (_, i) => 'ab'[i % 2] ?? '').reduce((s, id, i) => fail(s, id, i), CLOSED);
    expect(state.phase).toBe('closed');
  });

  it('does not open if a submission is answered in between', () => {
    const four = ['a', 'b', 'c', 'a'].reduce((state, id, i) => fail(state, id, i), CLOSED);
    const state = fail(succeeded(four, beginning(four, false), at(5)), 'b', 6);
    expect(state.phase).toBe('closed');
    expect(countedFailures(state, [1, 2, 3, 4, 5])).toEqual([1, 2, 3, 4, 5]);
  });

  it('opens at one failure that a probe confirms; the outage began with the streak', () => {
    const two = fail(fail(CLOSED, 'a', 0), 'a', 60);
    const state = confirmed(two, { number: 2, opened: 0, at: at(60), retryAfterMs: null });
    expect(state).toMatchObject({ phase: 'open', outages: [{ since: at(0) }] });
    expect(countedFailures(state, [1, 2])).toEqual([]);
  });

  it('opens at a failed look-up that a probe confirms', () => {
    const state = confirmed(CLOSED, { number: null, opened: 0, at: at(1), retryAfterMs: null });
    expect(state).toMatchObject({ phase: 'open', outages: [{ since: at(1) }] });
    expect(countedFailures(fail(state, 'a', 2), [1])).toEqual([]);
  });

  it('excuses a failure that was confirmed after another submission was answered', () => {
    const one = fail(CLOSED, 'a', 0);
    const answered = succeeded(one, beginning(one, false), at(1));
    const state = confirmed(answered, { number: 1, opened: 0, at: at(0), retryAfterMs: null });
    expect(countedFailures(state, [1])).toEqual([]);
  });
});

describe('an outage', () => {
  it('excuses the failures before the opening, those in it, and no later ones', () => {
    const before = fail(CLOSED, 'z', -60);
    const quiet = succeeded(before, beginning(before, false), at(-50));
    const open = opened(quiet);
    const half = probed(open, at(20), true);
    const again = fail(half, 'a', 21, { trial: true });
    expect(again.phase).toBe('open');
    const closed = closedAgain(again, 30);
    const after = fail(closed, 'a', 40);
    expect(closed.outages).toEqual([{ since: at(0), until: at(30) }]);
    // 1: before the streak; 2 to 6: the streak; 7: the trial; 8: after the outage.
    expect(countedFailures(after, [1, 2, 3, 4, 5, 6, 7, 8])).toEqual([1, 8]);
  });

  it('excuses a submission that began before its end and failed afterwards', () => {
    for (const straggler of [beginning(CLOSED, false), beginning(opened(), false)]) {
      const closed = closedAgain(opened(), 30);
      const { state, excused } = failed(closed, { invoiceId: 'a', at: at(60), began: straggler, retryAfterMs: null });
      expect([excused, state.phase, state.streak]).toEqual([true, 'closed', null]);
    }
  });

  it('is probed at growing intervals up to a minute, or as late as the authority asked', () => {
    let state = opened();
    const waits: number[] = [];
    for (let now = 4, i = 0; i < 9; i++) {
      const wait = Number(state.probe?.dueAt) - at(now).getTime();
      waits.push(wait / 1000);
      now += wait / 1000;
      expect(probeIsDue(state, at(now - 0.001))).toBe(false);
      expect(probeIsDue(state, at(now))).toBe(true);
      state = probed(state, at(now), false);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
    const four = ['a', 'b', 'c', 'a'].reduce((s, id, i) => fail(s, id, i), CLOSED);
    expect(fail(four, 'b', 9, { wait: 300_000 }).probe?.dueAt).toEqual(at(309));
    expect(fail(four, 'b', 9, { wait: 1e12 }).probe?.dueAt).toEqual(new Date(at(9).getTime() + LONGEST_WAIT_MS));
  });

  it('keeps the interval growing while probes answer and the invoices that are tried fail', () => {
    let state = opened();
    for (let i = 0; i < 12; i++) state = fail(probed(state, at(i), true), 'abc'[i % 3] ?? '', i, { trial: true });
    expect(Number(state.probe?.dueAt) - at(11).getTime()).toBe(LAST_PROBE_MS);
  });

  it('ends when probes answer and five trials of fewer than three invoices fail: those are their own failures', () => {
    const trial = (state: BreakerState, i: number) =>
      fail(probed(state, at(10 + i), true), 'ab'[i % 2] ?? '', 10 + i, { trial: true });
    const four = [0, 1, 2, 3].reduce(trial, opened());
    expect(four.phase).toBe('open');
    // A probe that fails in between changes nothing of it.
    const five = trial(probed(four, at(13), false), 4);
    expect(five).toMatchObject({ phase: 'closed', outages: [{ until: at(14) }], probe: null, streak: null });
    // The trials are excused; from now on each failure counts, and the two alone open nothing.
    const after = Array.from({ length: 10 }, (_, i) => i).reduce((s, i) => fail(s, 'ab'[i % 2] ?? '', 20 + i), five);
    expect([after.phase, countedFailures(after, [1, 5, 6, 10, 11, 20])]).toEqual(['closed', [11, 20]]);
  });

  it('is probed by one process at a time', () => {
    const open = opened();
    const claimed = probeClaimed(open, at(10), 60_000);
    expect(claimed && probeClaimed(claimed, at(11), 60_000)).toBeNull();
    expect(claimed && probeClaimed(claimed, at(71), 60_000)).not.toBeNull();
  });

  it('ends by one answered invoice, which goes alone; its place is free again when it is lost or says nothing', () => {
    const half = probed(opened(), at(10), true);
    expect(half.phase).toBe('half_open');
    const trial = trialClaimed(half, at(10), 60_000);
    if (!trial) throw new Error('the place is taken');
    expect(trialClaimed(trial, at(11), 60_000)).toBeNull();
    expect(trialClaimed(trial, at(71), 60_000)).not.toBeNull();
    expect(trialClaimed(trialReleased(trial), at(11), 60_000)).not.toBeNull();
    // Another one, from before the opening, ends nothing.
    expect(succeeded(trial, beginning(CLOSED, false), at(12)).phase).toBe('half_open');
    expect(fail(trial, 'x', 12).phase).toBe('half_open');
    expect(succeeded(trial, beginning(half, true), at(12)).phase).toBe('closed');
  });

  it('is changed by no call of an earlier one, however late it ends', () => {
    const before = fail(CLOSED, 'a', 0);
    const first = probed(opened(before), at(10), true);
    const late = beginning(first, true);
    const over = succeeded(first, beginning(first, true), at(11));
    // The probes after a failure before it.
    const stale = { number: 1, opened: before.opened, at: at(0), retryAfterMs: null };
    expect(confirmed(over, stale)).toBe(over);
    // A failed look-up, a probe and a trial.
    const second = opened(over, 20);
    expect(confirmed(probed(second, at(30), true), { ...stale, number: null }).phase).toBe('half_open');
    expect(probed(second, at(30), true, first.opened)).toBe(second);
    const half = probed(second, at(30), true);
    expect(succeeded(half, late, at(31)).phase).toBe('half_open');
    const { state } = failed(half, { invoiceId: 'a', at: at(31), began: late, retryAfterMs: null });
    expect(state).toEqual({ ...half, lastFailure: half.lastFailure + 1 });
  });

  it('is not prolonged by a clock that is set back', () => {
    const state = probed(opened(CLOSED, 100_000), at(100_010), false);
    expect(probeIsDue(state, at(0))).toBe(true);
    const trial = trialClaimed(probed(state, at(100_020), true), at(100_020), 60_000);
    expect(trial && trialClaimed(trial, at(0), 60_000)).not.toBeNull();
  });

  it('stays excused when many followed, in a state of limited size', () => {
    let state = CLOSED;
    const all: number[] = [];
    for (let i = 0; i < 4 * MOST_OUTAGES; i++) {
      // A failure that counts lies between the outages.
      state = fail(state, 'z', i * 100);
      state = closedAgain(
        opened(succeeded(state, beginning(state, false), at(i * 100 + 1)), i * 100 + 2),
        i * 100 + 50,
      );
      all.push(state.lastFailure);
    }
    expect(countedFailures(state, all)).toEqual([]);
    expect([state.outages.length, state.excused.length, state.opened]).toEqual([MOST_OUTAGES, MOST_OUTAGES, 200]);
    // The latest failures between outages still count.
    expect(countedFailures(state, [state.lastFailure - 5])).toHaveLength(1);
  });
});

describe('the end of an invoice', () => {
  const alone = Array.from({ length: 5 }, (_, i) => i).reduce((state, i) => fail(state, 'a', i), CLOSED);

  it('takes five failures that no outage excuses', () => {
    expect(concluded(alone, [1, 2, 3, 4], 5)).toBeNull();
    expect(concluded(alone, [1, 2, 3, 4, 5], 5)).not.toBeNull();
    expect(
      concluded(confirmed(alone, { number: 5, opened: 0, at: at(5), retryAfterMs: null }), [1, 2, 3, 4, 5], 5),
    ).toBeNull();
  });

  it('attributes its failures to it: a later opening does not excuse them', () => {
    const after = concluded(alone, [1, 2, 3, 4, 5], 5);
    if (!after) throw new Error('not concluded');
    const open = opened(after, 10);
    expect(countedFailures(open, [1, 2, 3, 4, 5, 6])).toEqual([1, 2, 3, 4, 5]);
  });

  it('is final also for the probes of an earlier failure of another invoice that end afterwards', () => {
    // Failure 3 is that of b, whose probes take long.
    const six = ['a', 'a', 'b', 'a', 'a', 'a'].reduce((state, id, i) => fail(state, id, i), CLOSED);
    const own = [1, 2, 4, 5, 6];
    const after = concluded(six, own, 5);
    if (!after) throw new Error('not concluded');
    const next = fail(after, 'c', 7);
    for (const state of [after, next]) {
      const open = confirmed(state, { number: 3, opened: 0, at: at(2), retryAfterMs: null });
      expect([open.phase, countedFailures(open, [...own, 3, 7])]).toEqual(['open', own]);
    }
  });
});
