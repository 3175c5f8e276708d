import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type BreakerState, CLOSED } from '../../../src/domain/authority/breaker.ts';
import type { Authority, Decision } from '../../../src/domain/authority/ports.ts';
import { absent, CAPABILITIES, held, notHeld, unknown } from '../../support/authority.ts';
import { liveWorld, type WorldOptions } from '../../support/live-world.ts';
import { firstOf, sampled } from '../../support/samples.ts';

const ACCEPTED: Decision = { outcome: 'accepted', dgiId: 'DGI-1', decidedAt: new Date() };
const HOUR = 3_600_000;
/** Of the long outages: in any hour all invoices have had the attempts that they could have. */
const OUTAGE_HOURS = sampled(6);

beforeEach(() => void vi.useFakeTimers({ now: new Date('2026-11-01T08:00:00Z') }));
afterEach(() => void vi.useRealTimers());

/** An authority with a ledger, which can be away: then every call fails, and probes too. */
function ledgerWorld(options: WorldOptions & { callMs?: number } = {}, parts: Partial<Authority> = {}) {
  const ledger = new Map<string, number>();
  const authority = { away: null as 'unavailable' | 'silent' | null, inFlight: 0, most: 0, submissions: 0 };
  const accepted: { id: string; at: number }[] = [];
  const pause = () => new Promise((done) => setTimeout(done, options.callMs ?? 100));
  const world = liveWorld(
    {
      async submit({ submissionId }) {
        authority.submissions++;
        authority.most = Math.max(authority.most, ++authority.inFlight);
        try {
          await pause();
          if (authority.away === 'unavailable') return notHeld('unavailable');
          // A silent authority may have taken the document.
          ledger.set(submissionId, (ledger.get(submissionId) ?? 0) + (ledger.has(submissionId) ? 0 : 1));
          if (authority.away === 'silent') return unknown('time-out');
          accepted.push({ id: submissionId, at: Date.now() });
          return held(ACCEPTED);
        } finally {
          authority.inFlight--;
        }
      },
      async lookUp({ submissionId }) {
        await pause();
        if (authority.away) return unknown('time-out');
        return ledger.has(submissionId) ? held(ACCEPTED) : absent();
      },
      probe: async () => {
        await pause();
        return authority.away && `it is ${authority.away}`;
      },
      ...parts,
    },
    options,
  );
  const count = (status: string) => world.all().filter((invoice) => invoice.status === status).length;
  return { ...world, ledger, faults: authority, accepted, count };
}

describe('an outage', () => {
  it.each(firstOf(['unavailable', 'silent']))(
    'of hours (%s) burns no attempt; what waits is drained at the concurrency',
    async (away) => {
      const world = ledgerWorld({ concurrency: 8 });
      world.faults.away = away;
      await world.start();
      for (let i = 0; i < 500; i++) world.add();
      await world.pass(OUTAGE_HOURS * HOUR);
      expect(world.count('signing')).toBe(500);
      const works = world.all().map(({ work }) => work);
      expect(works.every((work) => work?.stage === 'transmit' && work.claims === 0)).toBe(true);
      // Only the invoices that opened the breaker, and none of them much.
      expect(world.faults.submissions).toBeLessThan(20);
      const failures = works.flatMap((work) => work?.failures ?? []);
      expect(world.workers[0]?.gate.counted(failures)).toEqual([]);
      world.faults.away = null;
      await world.pass(180_000);
      expect(world.count('accepted')).toBe(500);
      expect(world.faults.most).toBe(8);
      expect([...world.ledger.values()].every((times) => times === 1)).toBe(true);
      for (const { events } of world.all())
        expect(events.map(({ status }) => status)).toEqual(['transmitted', 'accepted']);
      expect(world.state.current.breaker).toMatchObject({ phase: 'closed', opened: 1 });
      expect(world.failures).toEqual([]);
      await world.stop();
    },
  );

  it('one tenant with 480 of 500 delays the other by no more than a fifth of the drain', async () => {
    const world = ledgerWorld({ concurrency: 4 });
    world.faults.away = 'unavailable';
    await world.start();
    for (let i = 0; i < 480; i++) world.add({ tenantId: 'ten_big' });
    const small = new Set(Array.from({ length: 20 }, () => world.add({ tenantId: 'ten_small' })));
    await world.pass(HOUR);
    world.faults.away = null;
    await world.pass(180_000);
    expect(world.count('accepted')).toBe(500);
    const [first, last] = [world.accepted[0]?.at ?? 0, world.accepted.at(-1)?.at ?? 0];
    const smallEnd = world.accepted.findLast(({ id }) => small.has(id))?.at ?? 0;
    expect(smallEnd - first).toBeLessThanOrEqual((last - first) / 5);
    await world.stop();
  });

  it.each(firstOf(['silent', 'unavailable']))(
    'drains the oldest of a tenant first, also those that were tried while it was %s, and new invoices behind them',
    async (away) => {
      const world = ledgerWorld({ concurrency: 4 });
      world.faults.away = away;
      await world.start();
      const ids: string[] = [];
      for (let i = 0; i < 40; i++) {
        ids.push(world.add({ createdAt: new Date() }));
        await world.pass(10);
      }
      await world.pass(10 * 60_000);
      // Probes are answered, and submissions are not: one invoice after the other is tried.
      const { probe } = world.authority;
      world.authority.probe = async () => null;
      await world.pass(3 * 60_000);
      const tried = world.all().filter(({ authorityAttempts }) => authorityAttempts.length > 0).length;
      expect([tried > 5, tried < 20]).toEqual([true, true]);
      world.authority.probe = probe;
      world.faults.away = null;
      for (let i = 0; world.count('accepted') < 40 && i < 1000; i++) {
        ids.push(world.add({ createdAt: new Date() }));
        await world.pass(100);
      }
      await world.pass(10_000);
      const order = world
        .all()
        .map(({ id, events }) => ({ nth: ids.indexOf(id), at: Number(events[0]?.at) }))
        .sort((one, other) => one.at - other.at);
      // The first one is the trial that ended the outage. Four are under way at the same time, in any order.
      const late = order.slice(1).map(({ nth }, place) => place - nth);
      expect(Math.max(...late)).toBeLessThanOrEqual(4);
      await world.stop();
    },
  );

  it('an invoice that failed while an operator paused the transmission keeps its place', async () => {
    const world = ledgerWorld({ concurrency: 1, callMs: 500 }, { probe: async () => null });
    world.faults.away = 'unavailable';
    await world.start();
    const ids = [world.add({ createdAt: new Date() })];
    await world.pass(100);
    await world.state.pause({ by: 'me', reason: null, since: new Date() });
    for (let i = 0; i < 10; i++) {
      ids.push(world.add({ createdAt: new Date() }));
      await world.pass(10);
    }
    await world.pass(2000);
    world.faults.away = null;
    await world.state.resume();
    await world.pass(60_000);
    expect(world.accepted.map(({ id }) => ids.indexOf(id))).toEqual(ids.map((_, i) => i));
    await world.stop();
  });

  it('that only submissions see, while probes and look-ups are answered, burns no attempt either', async () => {
    const world = ledgerWorld({}, { probe: async () => null, lookUp: async () => absent() });
    await world.start();
    world.faults.away = 'silent';
    for (let i = 0; i < 50; i++) world.add();
    await world.pass(OUTAGE_HOURS * HOUR);
    expect(world.count('signing')).toBe(50);
    // One invoice is tried at a time, at growing intervals.
    expect(world.faults.submissions).toBeLessThan(OUTAGE_HOURS * 60 + 100);
    world.faults.away = null;
    await world.pass(180_000);
    expect(world.count('accepted')).toBe(50);
    await world.stop();
  });

  it('that a look-up of a decision meets first holds the submissions too', async () => {
    const world = ledgerWorld({}, { submit: async () => held(null) });
    await world.start();
    world.add();
    await world.pass(100);
    world.faults.away = 'unavailable';
    await world.pass(5000);
    expect(world.state.current.breaker.phase).toBe('open');
    const later = world.add();
    await world.pass(1000);
    expect(world.invoice(later)).toMatchObject({ status: 'signing', work: { claims: 0 }, authorityAttempts: [] });
    await world.stop();
  });

  it('that began after failures does not leave their invoices with the long delays of their attempts', async () => {
    let own: string | null = null;
    const schedule = [0, 1000, HOUR, HOUR, HOUR];
    const submit = async ({ submissionId }: { submissionId: string }) => {
      const fails = world.faults.away !== null || submissionId === own;
      if (!fails) world.accepted.push({ id: submissionId, at: Date.now() });
      return fails ? notHeld('unavailable') : held(ACCEPTED);
    };
    const world = ledgerWorld({ schedule, concurrency: 1 }, { submit });
    await world.start();
    // Two failures that count: the next attempts are an hour away.
    own = world.add({ createdAt: new Date() });
    await world.pass(2000);
    expect(world.invoice(own).work).toMatchObject({ failures: [1, 2] });
    world.faults.away = 'unavailable';
    const later = world.add({ createdAt: new Date() });
    await world.pass(60_000);
    expect(world.state.current.breaker.phase).toBe('open');
    const first = own;
    own = null;
    world.faults.away = null;
    await world.pass(120_000);
    expect([world.invoice(later).status, world.invoice(first).status]).toEqual(['accepted', 'accepted']);
    await world.stop();
  });

  it('is told once when it begins and when it ends, with numbers', async () => {
    const world = ledgerWorld();
    world.faults.away = 'unavailable';
    await world.start();
    for (let i = 0; i < 10; i++) world.add();
    await world.pass(600_000);
    world.faults.away = null;
    await world.pass(120_000);
    const told = world.reports.filter((entry) => !('stage' in entry));
    expect(told.filter(({ level }) => level === 'error')).toMatchObject([{ outage: 1, failures: 4 }]);
    expect(told.at(-1)).toMatchObject({ level: 'info', outage: 1, seconds: expect.any(Number) });
    await world.stop();
  });
});

const opened = (): BreakerState => ({
  ...CLOSED,
  phase: 'open',
  opened: 1,
  outages: [{ since: new Date(), until: null }],
  excused: [[1, null]],
});

describe('a short interruption', () => {
  const undecided = { submit: async () => held(null) };

  it('of one probe beside a failed submission opens nothing', async () => {
    let lost = 1;
    const probe = vi.fn<Authority['probe']>(async () => (lost-- > 0 ? 'lost' : null));
    let failing = true;
    const submit = async () => (failing ? notHeld('unavailable') : held(ACCEPTED));
    const world = ledgerWorld({}, { submit, probe });
    await world.start();
    const id = world.add();
    await world.pass(500);
    failing = false;
    await world.pass(10_000);
    expect(probe).toHaveBeenCalledTimes(2);
    expect([world.state.current.breaker.opened, world.invoice(id).status]).toEqual([0, 'accepted']);
    await world.stop();
  });

  it('of every probe opens nothing while look-ups of others are answered', async () => {
    const poisoned = new Set<string>();
    const world = ledgerWorld(
      {},
      {
        ...undecided,
        lookUp: async ({ submissionId }) => (poisoned.has(submissionId) ? unknown() : held(null, 400)),
        probe: async () => 'lost',
      },
    );
    await world.start();
    // Enough of them that one is looked up every few hundred milliseconds, though each is looked up ever less often, and
    // those that are due together are looked up together.
    for (let others = 0; others < 60; others++) {
      world.add();
      await world.pass(50);
    }
    poisoned.add(world.add());
    await world.pass(60_000);
    expect(world.state.current.breaker.opened).toBe(0);
    await world.stop();
  });

  it('of two seconds delays decisions by seconds, also beside callbacks', async () => {
    for (const decision of ['polling', 'callback'] as const) {
      const world = ledgerWorld(
        {},
        { submit: async () => held(null, 100), capabilities: () => ({ ...CAPABILITIES, decision }) },
      );
      await world.start();
      const ids = Array.from({ length: 10 }, () => world.add());
      await world.pass(200);
      for (const id of ids) world.ledger.set(id, 1);
      world.faults.away = 'unavailable';
      // Hints, or the pace of polling.
      for (const id of ids) await world.retry(id);
      await world.pass(2500);
      expect(world.state.current.breaker.phase).toBe('open');
      world.faults.away = null;
      await world.pass(12_000);
      expect([decision, world.count('accepted')]).toEqual([decision, 10]);
      await world.stop();
    }
  });

  it('in which a process ends during its probe or its trial keeps the others for five seconds', async () => {
    const hangs = new Promise<never>(() => undefined);
    for (const during of ['probe', 'trial']) {
      let isHanging = false;
      const world = ledgerWorld(
        { concurrency: 1 },
        {
          submit: async () => {
            if (world.faults.away) return notHeld('unavailable');
            return isHanging && during === 'trial' ? hangs : held(ACCEPTED);
          },
          probe: async () => {
            if (isHanging && during === 'probe') return hangs;
            return world.faults.away && 'away';
          },
        },
      );
      await world.start();
      world.faults.away = 'unavailable';
      const ids = Array.from({ length: 3 }, () => world.add());
      await world.pass(2500);
      expect(world.state.current.breaker.phase).toBe('open');
      world.faults.away = null;
      isHanging = true;
      await world.pass(3000);
      world.workers[0]?.die();
      isHanging = false;
      const next = world.startWorker();
      await next.start();
      await world.pass(10_000);
      const accepted = ids.filter((id) => world.invoice(id).status === 'accepted').length;
      // What hung was held by the dead process: its job runs again later.
      expect([during, accepted]).toEqual([during, during === 'trial' ? 2 : 3]);
      await next.stop();
      await world.stop();
    }
  });

  it('a probe that is not answered keeps no worker from its heartbeats', async () => {
    const world = ledgerWorld({}, { probe: async () => (world.faults.away ? new Promise(() => undefined) : null) });
    await world.start();
    for (let i = 0; i < 10; i++) world.add();
    world.faults.away = 'unavailable';
    await world.state.update(() => ({
      next: { ...opened(), probe: { dueAt: new Date(), failed: 3, answered: false } },
      result: null,
    }));
    await world.pass(40_000);
    expect(Date.now() - Number(world.members.current[0]?.at)).toBeLessThan(6000);
    await world.stop();
  });
});

describe('unknown outcomes', () => {
  it('five of them while look-ups are down too: stays signing, and ends in agreement, also across a restart', async () => {
    for (const arrived of [true, false]) {
      let silent = true;
      let sent = 0;
      const world = ledgerWorld(
        {},
        {
          submit: async () => {
            sent++;
            return silent ? unknown('time-out') : held(ACCEPTED);
          },
          // Every second look-up is answered, so that the next submission times out again.
          lookUp: async () =>
            silent ? (sent < 5 ? absent() : unknown('time-out')) : arrived ? held(ACCEPTED) : absent(),
          probe: async () => null,
        },
      );
      await world.start();
      const id = world.add();
      await world.pass(OUTAGE_HOURS * HOUR);
      expect(sent).toBe(5);
      expect(world.invoice(id)).toMatchObject({ status: 'signing', work: { outcomeUnknown: true } });
      // A new process knows only what is stored.
      world.workers[0]?.die();
      const next = world.startWorker();
      await next.start();
      silent = false;
      await world.pass(60_000);
      expect(sent).toBe(5);
      if (arrived) expect(world.invoice(id).status).toBe('accepted');
      else expect(world.invoice(id).rejectionReason).toMatch(/^dgi_transmission_failed: /);
      await next.stop();
      await world.stop();
    }
  });

  it('of submissions and look-ups in an outage: nothing is sent blindly when the authority is back', async () => {
    const world = ledgerWorld({ concurrency: 3 });
    await world.start();
    world.faults.away = 'silent';
    const ids = Array.from({ length: 3 }, () => world.add());
    await world.pass(OUTAGE_HOURS * HOUR);
    for (const id of ids)
      expect(world.invoice(id)).toMatchObject({ status: 'signing', work: { outcomeUnknown: true } });
    world.workers[0]?.die();
    const next = world.startWorker();
    await next.start();
    const sent = world.faults.submissions;
    world.faults.away = null;
    await world.pass(120_000);
    expect(world.count('accepted')).toBe(3);
    expect(world.faults.submissions).toBe(sent);
    await next.stop();
    await world.stop();
  });
});

describe('one invoice that always gets 503', () => {
  const failing = (poison: () => string | null): Partial<Authority> => ({
    submit: async ({ submissionId }) => {
      await new Promise((done) => setTimeout(done, 10));
      return submissionId === poison() ? notHeld('unavailable') : held(ACCEPTED);
    },
    lookUp: async () => absent(),
    probe: async () => null,
  });

  it('has five attempts beside others that pass, which it does not delay', async () => {
    let poison: string | null = null;
    const world = ledgerWorld(
      {},
      failing(() => poison),
    );
    await world.start();
    poison = world.add();
    for (let i = 0; i < 100; i++) {
      world.add();
      await world.pass(200);
    }
    expect(world.count('accepted')).toBe(100);
    expect(world.invoice(poison).rejectionReason).toMatch(/^dgi_transmission_failed: /);
    expect(world.invoice(poison).authorityAttempts.filter(({ purpose }) => purpose === 'submit')).toHaveLength(5);
    expect(world.state.current.breaker.opened).toBe(0);
    await world.stop();
  });

  it('has five attempts alone on an idle system with probes that answer', async () => {
    let poison: string | null = null;
    const world = ledgerWorld(
      {},
      failing(() => poison),
    );
    await world.start();
    poison = world.add();
    await world.pass(60_000);
    expect(world.invoice(poison).rejectionReason).toMatch(/^dgi_transmission_failed: /);
    expect(world.invoice(poison).authorityAttempts.filter(({ purpose }) => purpose === 'submit')).toHaveLength(5);
    await world.stop();
  });

  it('has five attempts when it is alone after an outage, which ends without it', async () => {
    let away = true;
    const world = ledgerWorld(
      {},
      {
        ...failing(() => null),
        submit: async () => notHeld('unavailable'),
        probe: async () => (away ? 'away' : null),
      },
    );
    await world.start();
    const poison = world.add();
    await world.pass(HOUR);
    expect(world.state.current.breaker.phase).toBe('open');
    away = false;
    await world.pass(600_000);
    expect(world.state.current.breaker).toMatchObject({ phase: 'closed', opened: 1 });
    expect(world.invoice(poison).rejectionReason).toMatch(/^dgi_transmission_failed: /);
    const told = world.reports.filter((entry) => !('stage' in entry));
    expect(told.at(-1)).toMatchObject({ level: 'warn', outage: 1, invoices: [poison] });
    await world.stop();
  });

  it('and is the oldest of those that wait in an outage does not keep the breaker open', async () => {
    let poison: string | null = null;
    let away = true;
    const parts = failing(() => poison);
    const world = ledgerWorld(
      { concurrency: 2 },
      {
        ...parts,
        submit: async (submission) =>
          away ? notHeld('unavailable') : await (parts.submit as Authority['submit'])(submission),
        probe: async () => (away ? 'away' : null),
      },
    );
    await world.start();
    poison = world.add();
    for (let i = 0; i < 20; i++) world.add();
    await world.pass(HOUR);
    away = false;
    await world.pass(300_000);
    expect(world.count('accepted')).toBe(20);
    expect(world.invoice(poison).rejectionReason).toMatch(/^dgi_transmission_failed: /);
    await world.stop();
  });
});

describe('a pause', () => {
  it('holds everything, also after a restart; its end drains it', async () => {
    const calls = vi.fn<() => void>();
    const answer = async (decision: Decision | null) => {
      calls();
      return held(decision);
    };
    const world = ledgerWorld({}, { submit: () => answer(null), lookUp: () => answer(ACCEPTED) });
    await world.start();
    const decided = world.add();
    await world.pass(10);
    await world.state.pause({ by: 'me', reason: null, since: new Date() });
    await world.pass(1500);
    calls.mockClear();
    for (let i = 0; i < 10; i++) world.add();
    await world.pass(HOUR);
    world.workers[0]?.die();
    const next = world.startWorker();
    await next.start();
    for (let i = 0; i < 10; i++) world.add();
    await world.pass(HOUR);
    expect(calls).not.toHaveBeenCalled();
    expect(world.invoice(decided).status).toBe('transmitted');
    await world.state.resume();
    await world.pass(30_000);
    expect(world.count('signing')).toBe(0);
    // A decision is asked for at most ten minutes later.
    await world.pass(600_000);
    expect(world.count('accepted')).toBe(21);
    await next.stop();
    await world.stop();
  });
});

describe('several workers', () => {
  it('share the concurrency, never have one invoice at once, and open and close the breaker together', async () => {
    const world = ledgerWorld({ workers: 3, concurrency: 6, callMs: 500 });
    const atOnce = new Set<string>();
    const doubled: string[] = [];
    const { submit } = world.authority;
    (world.authority as { submit: Authority['submit'] }).submit = async (submission) => {
      if (atOnce.has(submission.submissionId)) doubled.push(submission.submissionId);
      atOnce.add(submission.submissionId);
      try {
        return await submit(submission);
      } finally {
        atOnce.delete(submission.submissionId);
      }
    };
    await world.start();
    await world.pass(6000);
    world.faults.away = 'unavailable';
    for (let i = 0; i < 200; i++) world.add();
    await world.pass(HOUR);
    expect(world.state.current.breaker.opened).toBe(1);
    const probes = vi.spyOn(world.authority, 'probe');
    await world.pass(600_000);
    // One process probes for all.
    expect(probes.mock.calls.length).toBeLessThanOrEqual(11);
    world.faults.away = null;
    await world.pass(180_000);
    expect(world.count('accepted')).toBe(200);
    expect(world.faults.most).toBeLessThanOrEqual(6);
    expect(doubled).toEqual([]);
    await world.stop();
  });

  it('take over what a dead one had at the authority, and send nothing twice', async () => {
    const world = ledgerWorld({ workers: 2, concurrency: 8, callMs: 1000 });
    world.faults.away = 'unavailable';
    await world.start();
    for (let i = 0; i < 60; i++) world.add();
    await world.pass(HOUR);
    world.faults.away = null;
    while (world.accepted.length < 5) await world.pass(100);
    world.workers[0]?.die();
    await world.pass(120_000);
    expect(world.count('accepted')).toBe(60);
    expect(world.accepted.map(({ id }) => id).sort()).toEqual([...new Set(world.accepted.map(({ id }) => id))].sort());
    for (const { events } of world.all()) expect(events).toHaveLength(2);
    await world.stop();
  });

  it('that were killed one after the other take no part of the limits, and are forgotten', async () => {
    const world = ledgerWorld({ workers: 1, concurrency: 8, callMs: 500 });
    const dead = Array.from({ length: 30 }, (_, i) => ({
      id: `dead${i}`,
      at: new Date(Date.now() - 20_000 - i * 5000),
    }));
    for (const { id, at } of dead) await world.members.heartbeat({ id, at, inFlight: 1 });
    await world.members.heartbeat({ id: 'ancient', at: new Date(Date.now() - 2 * HOUR), inFlight: 1 });
    await world.start();
    for (let i = 0; i < 40; i++) world.add();
    await world.pass(5000);
    expect([world.faults.most, world.count('accepted')]).toEqual([8, 40]);
    expect(world.members.current.map(({ id }) => id)).not.toContain('ancient');
    await world.pass(70_000);
    expect(world.members.current).toHaveLength(1);
    await world.stop();
  });

  it("keep to the authority's submissions a minute", async () => {
    const limits = { ...CAPABILITIES.limits, submissionsPerMinute: 60 };
    const world = ledgerWorld({ workers: 2, concurrency: 50 }, { capabilities: () => ({ ...CAPABILITIES, limits }) });
    await world.start();
    await world.pass(6000);
    for (let i = 0; i < 200; i++) world.add();
    await world.pass(300_000);
    expect(world.count('accepted')).toBe(200);
    const times = world.accepted.map(({ at }) => at);
    const most = Math.max(...times.map((start) => times.filter((at) => at >= start && at < start + 60_000).length));
    expect(most).toBeLessThanOrEqual(60);
    await world.stop();
  });
});

describe('when other things fail', () => {
  it('an answer that could not be stored is an unknown outcome: the next run asks first', async () => {
    const world = ledgerWorld({ concurrency: 2 });
    await world.start();
    const { update } = world.state;
    let isBroken = true;
    world.faults.away = 'unavailable';
    world.state.update = (transition) =>
      isBroken ? Promise.reject(new Error('the store is away')) : update(transition);
    const id = world.add();
    await world.pass(200);
    expect(world.faults.submissions).toBe(1);
    expect(world.invoice(id).work).toMatchObject({ claims: 1, outcomeUnknown: false });
    isBroken = false;
    world.faults.away = null;
    await world.pass(60_000);
    world.wake(id);
    await world.pass(1000);
    const calls = world.invoice(id).authorityAttempts.map(({ purpose, outcome }) => `${purpose} ${outcome}`);
    expect(calls.slice(0, 2)).toEqual(['look_up not_received', 'submit accepted']);
    expect(calls.filter((call) => call.startsWith('submit'))).toHaveLength(1);
    expect(world.failures).toHaveLength(1);
    await world.stop();
  });

  it('a clock that is set back by a day, or forward, in an outage does not prolong it', async () => {
    for (const jump of [-86_400_000, 86_400_000]) {
      const world = ledgerWorld();
      world.faults.away = 'unavailable';
      await world.start();
      const ids = Array.from({ length: 10 }, () => world.add({ createdAt: new Date(Date.now() - 2 * 86_400_000) }));
      await world.pass(30_000);
      vi.setSystemTime(Date.now() + jump);
      world.faults.away = null;
      await world.pass(120_000);
      // Those that were tried wait until the time at which they were tried.
      expect(ids.filter((id) => world.invoice(id).status === 'accepted').length).toBeGreaterThanOrEqual(5);
      expect(world.state.current.breaker.phase).toBe('closed');
      await world.stop();
    }
  });

  it('where the authority is only busy, invoices wait in their lane, the oldest first', async () => {
    const world = ledgerWorld({ concurrency: 1, callMs: 100 });
    await world.start();
    const ids = Array.from({ length: 5 }, () => world.add());
    await world.pass(10);
    // One is at the authority; one may wait until it has left.
    expect(ids.filter((id) => world.invoice(id).work?.claims === 0).length).toBeGreaterThanOrEqual(3);
    await world.pass(600);
    expect(world.accepted.map(({ id }) => id)).toEqual(ids);
    const more = Array.from({ length: 50 }, () => world.add());
    await world.pass(1100);
    expect(more.filter((id) => world.invoice(id).work?.claims === 0).length).toBeGreaterThan(30);
    await world.pass(60_000);
    expect([world.count('accepted'), world.faults.most]).toEqual([55, 1]);
    await world.stop();
  });

  it('a slow authority and many new invoices never exceed the places, and all are sent', async () => {
    const world = ledgerWorld({ concurrency: 3, callMs: 2000 });
    await world.start();
    for (let i = 0; i < 60; i++) {
      world.add({ tenantId: `ten_${i % 4}` });
      await world.pass(100);
    }
    await world.pass(60_000);
    expect([world.count('accepted'), world.faults.most]).toEqual([60, 3]);
    await world.stop();
  });
});

it('a lease is renewed during a submission of 30 s; nobody else takes the invoice', async () => {
  const world = ledgerWorld({ workers: 2, callMs: 30_000 });
  await world.start();
  const id = world.add();
  for (let second = 0; second < 29; second++) {
    await world.pass(1000);
    world.wake(id);
  }
  await world.pass(5000);
  expect([world.faults.submissions, world.invoice(id).status]).toEqual([1, 'accepted']);
  await world.stop();
});
