import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../src/domain/ids.ts';
import { orderAt } from '../../../src/domain/order-key.ts';
import type { Member } from '../../../src/domain/principal.ts';
import { CURSOR_PLACES, createKnownPlaces, readCursor } from '../../../src/domain/webhook/event-cursor.ts';
import type { EventListener } from '../../../src/domain/webhook/ports.ts';
import { invoiceEvents, type StreamedEvent } from '../../../src/domain/webhook/watch-events.ts';
import type { WebhookEvent } from '../../../src/domain/webhook/webhook-event.ts';

const MEMBER = { kind: 'secret', keyId: 'key_1', tenant: { id: 'ten_1' }, environment: 'test' } as Member;

/** A log and a feed in which every delay is a step of the test. */
function world() {
  let clock = Date.parse('2026-11-21T12:00:00Z');
  let serial = 0;
  const log: WebhookEvent[] = [];
  const news: WebhookEvent[] = [];
  const reads: (() => void)[] = [];
  let listener: EventListener | null = null;

  /** Answers with the state of the log at the start or at the end of the read. */
  async function read<Row>(select: () => Row, early = reads.length % 2 === 0): Promise<Row> {
    const before = select();
    await new Promise<void>((resolve) => reads.push(resolve));
    return early ? before : select();
  }
  const above = (place: string, limit: number) =>
    log
      .filter((event) => event.place > place)
      .sort((a, b) => (a.place < b.place ? -1 : 1))
      .slice(0, limit);

  const needs: Parameters<typeof invoiceEvents.run>[0] = {
    events: {
      after: (_owner, place, limit) => read(() => above(place, limit)),
      // The state at the time of the call, where a new stream begins.
      placesAfter: (_owner, place, limit) => read(() => above(place, limit).map((event) => event.place), true),
      find: async (_tenant, _environment, id) => log.find((event) => event.id === id) ?? null,
    },
    eventFeed: {
      async subscribe(_owner, each) {
        await turn();
        listener = each;
        news.length = 0;
        return () => {
          if (listener === each) listener = null;
        };
      },
    },
    storeNow: () => new Date(clock),
    report: (message, error) => {
      throw new Error(message, { cause: error });
    },
  };
  return {
    log,
    news,
    watch: (after: string | null) => invoiceEvents.run(needs, { by: MEMBER }, after),
    pass: (ms: number) => {
      clock += ms;
    },
    /** Adds an event whose place was assigned some time ago. */
    commit(lateMs: number) {
      serial++;
      const order = orderAt(clock - lateMs).slice(0, 12) + serial.toString(16).padStart(12, '0');
      const event = { id: newId('evt'), order, place: order } as WebhookEvent;
      log.push(event);
      news.push(event);
    },
    deliver: () => {
      const event = news.shift();
      if (event) listener?.event(event);
    },
    gap() {
      news.length = 0;
      listener?.gap();
    },
    answer: () => reads.shift()?.(),
    listening: () => listener !== null,
    idle: () => reads.length === 0 && (listener === null || news.length === 0),
  };
}

/** A client that requests one event at a time, and resumes with the last cursor after a disconnection. */
function client(on: ReturnType<typeof world>) {
  const told: string[] = [];
  let cursor: string | null = null;
  let stream: AsyncIterableIterator<StreamedEvent> | null = null;
  let session = 0;
  let taking = false;
  /** Number of events in the log when the client began. */
  let since = 0;
  return {
    told,
    due: () => on.log.slice(since).map(({ place }) => place),
    async open() {
      const mine = ++session;
      stream = null;
      taking = false;
      if (cursor === null) since = on.log.length;
      const opened = await on.watch(cursor);
      if (mine !== session) return void opened.return?.();
      stream = opened;
    },
    take() {
      if (!stream || taking) return;
      taking = true;
      const mine = session;
      void stream.next().then(({ done, value }) => {
        if (done || mine !== session) return;
        taking = false;
        told.push(value.event.place);
        cursor = value.cursor();
      });
    },
    close: () => stream?.return?.(),
  };
}

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('commit' as const), ms: fc.integer({ min: 0, max: 4900 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 3000 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom('deliver' as const, 'answer' as const), ms: fc.constant(0) }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('take' as const), ms: fc.constant(0) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('gap' as const, 'open' as const), ms: fc.constant(0) }) },
);

describe('invoiceEvents', () => {
  it('sends each event once, however slow, late or lost messages are, across any number of resumptions', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
        const on = world();
        const reader = client(on);
        for (let i = 0; i < 3; i++) on.commit(i * 1000);
        void reader.open();
        for (const each of steps) {
          if (each.do === 'commit') on.commit(each.ms);
          else if (each.do === 'pass') on.pass(each.ms);
          else if (each.do === 'deliver') on.deliver();
          else if (each.do === 'answer') on.answer();
          else if (each.do === 'take') reader.take();
          else if (each.do === 'gap') on.gap();
          else void reader.open();
          await turn();
        }
        // Until no step is left.
        for (let quiet = 0; quiet < 4; quiet++) {
          const before = reader.told.length;
          on.answer();
          if (on.listening()) on.deliver();
          await turn();
          reader.take();
          await turn();
          if (!on.idle() || reader.told.length > before) quiet = -1;
        }
        reader.close();
        expect(reader.told.toSorted()).toEqual(reader.due().toSorted());
      }),
      { numRuns: 1000 },
    );
  });

  it('after a long absence sends the events of the log first, then new ones, each once', async () => {
    const on = world();
    const start = orderAt(Date.parse('2026-11-21T12:00:00Z'));
    for (let i = 0; i < 450; i++) {
      on.pass(100);
      on.commit(0);
    }
    const opening = on.watch(`${start}.`);
    for (let i = 0; i < 3; i++) {
      await turn();
      on.answer();
    }
    const stream = await opening;
    const told: string[] = [];
    for (let i = 0; i < 500; i++) {
      if (i < 50) {
        on.pass(100);
        on.commit(0);
        on.deliver();
      }
      const next = stream.next();
      for (let waits = 0; waits < 3; waits++) {
        await turn();
        on.answer();
      }
      told.push((await next).value.event.place);
    }
    expect(told).toEqual(on.log.map(({ place }) => place));
    await stream.return?.();
  });

  it('resumes after an event id, and refuses an invalid cursor', async () => {
    const on = world();
    for (let i = 0; i < 3; i++) {
      on.pass(10);
      on.commit(0);
    }
    const opening = on.watch(on.log[0]?.id ?? '');
    for (let i = 0; i < 4; i++) {
      await turn();
      on.answer();
    }
    const stream = await opening;
    const told: string[] = [];
    for (let i = 0; i < 2; i++) {
      const next = stream.next();
      await turn();
      on.answer();
      told.push((await next).value.event.id);
    }
    expect(told).toEqual(on.log.slice(1).map(({ id }) => id));
    for (const wrong of ['', 'evt_1', newId('evt'), 'x'.repeat(24), `${on.log[0]?.place}.abc`]) {
      await expect(on.watch(wrong)).rejects.toMatchObject({ code: 'invalid_request', param: 'after' });
    }
  });
});

describe('a clock that was ahead for a moment', () => {
  const HOUR = 3_600_000;

  /** Does what the world waits for until nothing is left to do. */
  async function settle(on: ReturnType<typeof world>, reader: ReturnType<typeof client>) {
    for (let idle = 0, before = -1; idle < 5; idle = reader.told.length === before ? idle + 1 : 0) {
      before = reader.told.length;
      for (const step of [on.deliver, on.answer, reader.take]) {
        step();
        await turn();
      }
    }
  }

  it.each([
    ['a resumption', true],
    ['a gap', false],
  ])('costs no event after %s', async (_, resumes) => {
    const on = world();
    const reader = client(on);
    void reader.open();
    await settle(on, reader);
    on.commit(0);
    on.commit(-HOUR);
    await settle(on, reader);
    expect(reader.told).toHaveLength(2);
    on.pass(20_000);
    if (resumes) await reader.close();
    for (let n = 0; n < 30; n++) on.commit(0);
    if (resumes) void reader.open();
    else on.gap();
    await settle(on, reader);
    expect(new Set(reader.told)).toEqual(new Set(reader.due()));
  });
});

describe('what a stream remembers', () => {
  it('is what can come again, not every event of an hour', () => {
    const start = Date.parse('2026-11-21T12:00:00Z');
    let now = start;
    const known = createKnownPlaces(orderAt(start), [], () => now);
    const places = Array.from({ length: 3600 }, (_, second) => orderAt(start + second * 1000));
    for (const place of places) {
      now += 1000;
      known.add(place);
    }
    expect(places.slice(-600).every((place) => known.has(place))).toBe(true);
    expect(places.filter((place) => known.has(place)).length).toBeLessThanOrEqual(1200);
  });

  it('is all of the last seconds, however many events they have', () => {
    const start = Date.parse('2026-11-21T12:00:00Z');
    const known = createKnownPlaces(orderAt(start), [], () => start + 2000);
    const places = Array.from(
      { length: 2000 },
      (_, n) => orderAt(start + n).slice(0, 12) + n.toString(16).padStart(12, '0'),
    );
    for (const place of places) known.add(place);
    expect(places.every((place) => known.has(place))).toBe(true);
  });
});

describe('a cursor', () => {
  it('contains exactly the known places, up to its limit', () => {
    const place = fc.tuple(fc.integer({ min: 0, max: 4999 }), fc.integer({ min: 0, max: 2 ** 47 }));
    fc.assert(
      fc.property(fc.array(place, { maxLength: 100, size: 'max' }), (given) => {
        const start = Date.parse('2026-11-21T12:00:00Z');
        const places = given.map(
          ([ms, rest]) => orderAt(start + ms).slice(0, 12) + rest.toString(16).padStart(12, '0'),
        );
        const known = createKnownPlaces(orderAt(start), [], () => start + 3_600_000);
        for (const each of places) known.add(each);
        const read = readCursor(known.cursor());
        const all = new Set([orderAt(start), ...places]);
        const highest = [...all].sort().at(-1);
        expect(read?.highest).toBe(highest);
        expect(read?.places?.length).toBeLessThanOrEqual(CURSOR_PLACES + 1);
        for (const each of read?.places ?? []) expect(all.has(each)).toBe(true);
        if (places.length <= CURSOR_PLACES)
          expect(new Set([...(read?.places ?? []), highest, orderAt(start)])).toEqual(all);
      }),
    );
  });
});
