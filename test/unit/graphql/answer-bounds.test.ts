import fc from 'fast-check';
import { buildSchema, execute, type GraphQLObjectType, type GraphQLResolveInfo, graphql, parse } from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { describe, expect, it, vi } from 'vitest';
import { serviceError } from '../../../src/domain/errors.ts';
import { NO_TERMS } from '../../../src/domain/invoice/terms.ts';
import { createInvoiceWarnings } from '../../../src/domain/invoice/unprintable-warnings.ts';
import { type AnswerMeter, createAnswerMeter, metered, UNLIMITED } from '../../../src/graphql/answer-meter.ts';
import { resultText, writeData } from '../../../src/graphql/answer-text.ts';
import { createLargeOperations } from '../../../src/graphql/large-operations.ts';
import { schema } from '../../../src/graphql/schema.ts';
import { anyText } from '../../support/any-text.ts';
import { sampleInvoice } from '../ubl/sample-invoice.ts';

const noPlace = () => Promise.reject(new Error('no place is needed'));

const lists = metered(
  buildSchema(
    'type Query { rows: [Row!]! } type Row { a: Int b: Int inner: Inner cells: [Row!]! } type Inner { c: Int }',
  ),
);
const rowsOf = (rows: number, cells: number) => ({
  rows: Array.from({ length: rows }, (_, a) => ({
    a,
    b: a,
    inner: { c: a },
    cells: Array.from({ length: cells }, (_, b) => ({ a: b })),
  })),
});

describe('lists', () => {
  it.each([
    // The rows and their two fields each.
    ['{ rows { a b } }', 10, 0, 30],
    ['{ rows { a inner { c } } }', 10, 0, 40],
    ['{ rows { ...F ... { b } } } fragment F on Row { a }', 10, 0, 30],
    // The cells and their fields. The list itself counts as a field of the row.
    ['{ rows { cells { a } } }', 10, 7, 20 + 10 * 14],
  ])('are counted by their actual length: %s', async (source, rows, cells, fields) => {
    const run = async (most: number) => {
      const meter = createAnswerMeter({ ...UNLIMITED, fields: most }, noPlace);
      const contextValue = { meter };
      const { errors } = await meter.run(() =>
        graphql({ schema: lists, source, rootValue: rowsOf(rows, cells), contextValue }),
      );
      expect(errors).toBeUndefined();
    };
    await run(fields);
    await expect(run(fields - 1)).rejects.toThrow(`more than ${fields - 1} fields`);
  });

  it('of warnings are computed once for an invoice, however many aliases select them', async () => {
    const unshown = vi.fn(async (_text: string) => ({ withoutFont: [], distorting: [] }));
    const useCases = { invoiceWarnings: createInvoiceWarnings(unshown) };
    const context = { principal: { kind: 'secret' }, useCases };
    const { warnings } = (schema.getType('Invoice') as GraphQLObjectType).getFields();
    const sample = () => ({ ...sampleInvoice(), createdAt: new Date(), terms: NO_TERMS, seller: {} });
    for (const invoice of [sample(), sample()]) {
      const ask = () => warnings?.resolve?.(invoice, {}, context, {} as GraphQLResolveInfo);
      await Promise.all([ask(), ask(), ask()]);
    }
    expect(unshown.mock.calls.filter(([text]) => text === sampleInvoice().customer.name)).toHaveLength(2);
  });

  it('that are long are resolved in turns of the event loop, with the same answer', async () => {
    const [document, rootValue] = [parse('{ rows { a b cells { a } } }'), rowsOf(4000, 2)];
    const wanted = execute({ schema: lists, document, rootValue });
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const meter = () => createAnswerMeter(UNLIMITED, noPlace);
    expect(await execute({ schema: lists, document, rootValue, contextValue: { meter: meter() } })).toEqual(wanted);
    const compiled = compileQuery(lists, document);
    if (!isCompiledQuery(compiled)) throw new Error('it can not be compiled');
    expect(await compiled.query(rootValue, { meter: meter() }, {})).toEqual(wanted);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(3);
  });
});

describe('what an answer takes in memory', () => {
  const MIB = 1024 * 1024;
  const bounds = { ...UNLIMITED, reads: 4 * MIB, free: 4 * MIB };
  const places = () => {
    const leave = vi.fn();
    return { leave, take: vi.fn(async (_held: number) => leave) };
  };
  const full = () => Promise.reject(serviceError('internal_error', 'Full.', null, 503));
  /** Searches for rows that have so many bytes, of which the meter knows only the maximum. */
  const rows = (meter: AnswerMeter, most: number, bytes: number) =>
    meter.search(most * MIB, async (maxBytes) => ({ bytes: Math.min(bytes * MIB, maxBytes) }));

  it('needs no place as long as it is little, and one place, before more is read, when it becomes much', async () => {
    const { take, leave } = places();
    const little = createAnswerMeter(bounds, take);
    await little.run(async () => {
      await rows(little, 2, 0.1);
      await rows(little, 1.9, 0.1);
      await little.hold(1.3 * MIB);
    });
    expect(take).not.toHaveBeenCalled();
    const grown = createAnswerMeter(bounds, take);
    await rows(grown, 2, 1.9);
    await rows(grown, 1, 1);
    await grown.hold(MIB);
    expect(take).not.toHaveBeenCalled();
    await grown.hold(0.2 * MIB);
    expect(take).toHaveBeenCalledTimes(1);
    take.mockClear();
    const much = createAnswerMeter(bounds, take);
    const read = vi.fn(async () => ({ bytes: 3 * MIB }));
    await much.run(async () => {
      await rows(much, 2, 1);
      take.mockImplementationOnce(async () => {
        expect(read).not.toHaveBeenCalled();
        return leave;
      });
      await Promise.all([much.search(4 * MIB, read), much.hold(9 * MIB)]);
      expect(leave).not.toHaveBeenCalled();
    });
    expect(take.mock.calls).toEqual([[1 * MIB]]);
    expect(read).toHaveBeenCalledWith(3 * MIB);
    await Promise.resolve();
    expect(leave).toHaveBeenCalledTimes(1);
  });

  it('is limited in what is searched, whether it has a place or not', async () => {
    const meter = createAnswerMeter(bounds, places().take);
    const answer = meter.run(async () => {
      await rows(meter, 1, 1);
      await rows(meter, 4, 3);
      await rows(meter, 1, 1);
    });
    await expect(answer).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('more than 4 MiB of stored data behind it'),
    });
  });

  it('is searched in sequence, so that an answer holds little while it waits', async () => {
    const meter = createAnswerMeter(bounds, places().take);
    let [running, most] = [0, 0];
    const search = () =>
      meter.search(1, async () => {
        most = Math.max(most, ++running);
        await new Promise(setImmediate);
        running--;
        return { bytes: 1 };
      });
    await Promise.all([search(), search(), search()]);
    expect(most).toBe(1);
  });

  it('counts side by side before any of it is read: who selects four invoices holds none while waiting', async () => {
    const { take } = places();
    const invoices = async (count: number) => {
      const meter = createAnswerMeter(bounds, take);
      await Promise.all(Array.from({ length: count }, () => meter.hold(1.3 * MIB)));
    };
    await invoices(3);
    expect(take).not.toHaveBeenCalled();
    await invoices(4);
    expect(take.mock.calls).toEqual([[0]]);
  });

  it('counts fields and text', async () => {
    const { take } = places();
    const answer = async (rowCount: number) => {
      const meter = createAnswerMeter(bounds, take);
      const source = '{ rows { a b inner { c } } }';
      const rootValue = rowsOf(rowCount, 0);
      await meter.run(() => graphql({ schema: lists, source, rootValue, contextValue: { meter } }));
    };
    await answer(4000);
    expect(take).not.toHaveBeenCalled();
    await answer(5000);
    expect(take).toHaveBeenCalledTimes(1);
    const text = createAnswerMeter(bounds, take);
    await writeData({ list: ['x'.repeat(1.9 * MIB)] }, 9 * MIB, text.hold);
    expect(take).toHaveBeenCalledTimes(1);
    await writeData({ list: ['x'.repeat(0.2 * MIB)] }, 9 * MIB, text.hold);
    expect(take).toHaveBeenCalledTimes(2);
  });

  it('is refused if no place was free, before it begins if it waits for one', async () => {
    const refused = createAnswerMeter(bounds, full);
    await expect(refused.run(() => rows(refused, 5, 1))).rejects.toMatchObject({ status: 503 });
    const make = vi.fn();
    await expect(createAnswerMeter({ ...bounds, waits: true }, full).run(make)).rejects.toMatchObject({ status: 503 });
    expect(make).not.toHaveBeenCalled();
    const { take, leave } = places();
    expect(await createAnswerMeter({ ...UNLIMITED, waits: true }, take).run(() => 'made')).toBe('made');
    expect(leave).toHaveBeenCalledTimes(1);
  });

  /** What the resolver of `rows` in `{ rows { a } }` gets. */
  const infoOfRows = async () => {
    const info = Promise.withResolvers<GraphQLResolveInfo>();
    const meter = { list: (_items: unknown, asked: GraphQLResolveInfo) => info.resolve(asked) };
    await graphql({ schema: lists, source: '{ rows { a } }', rootValue: rowsOf(0, 0), contextValue: { meter } });
    return info.promise;
  };
  /** Loads in each way, and returns what was loaded so far. */
  const loadAll = (meter: AnswerMeter, info: GraphQLResolveInfo): string[] => {
    const loaded: string[] = [];
    void meter.search(0, async () => {
      loaded.push('rows');
      return { bytes: 0 };
    });
    void meter.hold(0).then(() => loaded.push('an object'));
    const items = meter.list([{}], info);
    if (items instanceof Promise) void items.then(() => loaded.push('a list'));
    else loaded.push('a list');
    return loaded;
  };
  const settled = () => new Promise(setImmediate);
  const forever = () => new Promise<never>(() => undefined);

  it('grows no more while it waits: a search that is running ends first and counts, and nothing else begins', async () => {
    const { take, leave } = places();
    const [meter, info] = [createAnswerMeter(bounds, take), await infoOfRows()];
    const [found, place] = [Promise.withResolvers<{ bytes: number }>(), Promise.withResolvers<typeof leave>()];
    take.mockReturnValueOnce(place.promise);
    let loaded: string[] = [];
    const answer = meter.run(async () => {
      await meter.hold(100);
      void meter.list([{}], info);
      const rows = meter.search(MIB, () => found.promise);
      await settled();
      const large = meter.hold(4 * MIB + 1);
      await settled();
      loaded = loadAll(meter, info);
      return Promise.all([rows, large]);
    });
    await settled();
    await settled();
    await settled();
    expect([take.mock.calls, loaded]).toEqual([[], []]);
    found.resolve({ bytes: MIB });
    await settled();
    expect([take.mock.calls, loaded]).toEqual([[[MIB + 100 + 2 * 200]], []]);
    place.resolve(leave);
    await answer;
    await settled();
    expect(loaded.toSorted()).toEqual(['a list', 'an object', 'rows']);
  });

  it('grows no more once it is refused, and takes no place', async () => {
    const { take } = places();
    const [meter, info] = [createAnswerMeter({ ...bounds, fields: 10 }, take), await infoOfRows()];
    const found = Promise.withResolvers<{ bytes: number }>();
    const answer = meter.run(async () => {
      void meter.search(0, () => found.promise);
      await settled();
      // Needs a place, when the search has ended.
      void meter.hold(5 * MIB);
      await settled();
      void meter.list(Array(10).fill({}), info);
      return forever();
    });
    await expect(answer).rejects.toThrow('more than 10 fields');
    const loaded = loadAll(meter, info);
    found.resolve({ bytes: 0 });
    await settled();
    expect([take.mock.calls, loaded]).toEqual([[], []]);
    // Nor does an answer that was little.
    const little = createAnswerMeter({ ...bounds, fields: 10 }, take);
    await expect(little.run(() => little.list(Array(10).fill({}), info))).rejects.toThrow('more than 10 fields');
    const further = loadAll(little, info);
    void little.hold(9 * MIB);
    void little.search(9 * MIB, forever);
    await settled();
    expect([take.mock.calls, further]).toEqual([[], []]);
  });

  it('grows no more if it is refused while it waits, or as it gets its place, which is free again', async () => {
    const info = await infoOfRows();
    const seen = new Set<number>();
    for (let hops = 0; hops < 12; hops++) {
      const { take, leave } = places();
      const meter = createAnswerMeter({ ...bounds, fields: 10 }, take);
      const place = Promise.withResolvers<typeof leave>();
      take.mockReturnValueOnce(place.promise);
      const read = vi.fn(async () => ({ bytes: 0 }));
      const answer = meter.run(async () => {
        void meter.search(5 * MIB, read);
        return forever();
      });
      await settled();
      place.resolve(leave);
      for (let hop = 0; hop < hops; hop++) await null;
      void meter.list(Array(10).fill({}), info);
      const before = read.mock.calls.length;
      seen.add(before);
      await expect(answer).rejects.toThrow('more than 10 fields');
      await settled();
      expect([take.mock.calls, leave.mock.calls.length, read.mock.calls.length]).toEqual([[[0]], 1, before]);
    }
    expect(seen).toEqual(new Set([0, 1]));
    const { take, leave } = places();
    const meter = createAnswerMeter({ ...bounds, fields: 10 }, take);
    const place = Promise.withResolvers<typeof leave>();
    take.mockReturnValueOnce(place.promise);
    let loaded: string[] = [];
    const answer = meter.run(async () => {
      void meter.search(5 * MIB, forever);
      await settled();
      loaded = loadAll(meter, info);
      return forever();
    });
    await settled();
    await settled();
    void meter.list(Array(10).fill({}), info);
    await expect(answer).rejects.toThrow('more than 10 fields');
    place.resolve(leave);
    await settled();
    expect([take.mock.calls, leave.mock.calls.length, loaded]).toEqual([[[0]], 1, []]);
  });

  it('needs no place any more after the answer, which gives back one that comes late, and reads no more', async () => {
    const { leave } = places();
    const free = Promise.withResolvers<() => void>();
    const meter = createAnswerMeter(bounds, vi.fn().mockReturnValueOnce(free.promise));
    const read = vi.fn();
    // For example because a resolver beside this one has thrown.
    const failed = meter.run(async () => {
      void meter.search(5 * MIB, read);
      await new Promise(setImmediate);
      throw new Error('failed');
    });
    await expect(failed).rejects.toThrow('failed');
    free.resolve(leave);
    void meter.search(1, read);
    void meter.hold(9 * MIB);
    await new Promise(setImmediate);
    expect([leave.mock.calls.length, read.mock.calls.length]).toEqual([1, 0]);
  });
});

describe('the text of an answer', () => {
  const text = anyText().map((each) => each.repeat(50));
  const { data } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, text, fc.integer(), fc.boolean(), fc.constant(null), tie('list'), tie('data')),
    list: fc.array(tie('value'), { maxLength: 10 }),
    data: fc.dictionary(fc.string(), tie('value'), { maxKeys: 6 }),
  }));

  it('equals that of JSON.stringify, whether serialized in pieces or at once', async () => {
    let longest = 0;
    await fc.assert(
      fc.asyncProperty(data, fc.integer({ min: 1, max: 2000 }), async (some, copies) => {
        const length = Math.min(copies, Math.ceil(1_000_000 / JSON.stringify(some).length));
        const result = { data: { all: Array.from({ length }, () => some) }, extensions: { a: 1 } };
        const wanted = JSON.stringify(result);
        longest = Math.max(longest, wanted.length);
        await writeData(result.data, 20_000_000);
        expect(resultText(result) === wanted).toBe(true);
      }),
      { numRuns: 40 },
    );
    expect(longest).toBeGreaterThan(300_000);
  });

  it('is joined in a turn of its own, so that answers that end together do not hold the event loop', async () => {
    let [turn, isRunning] = [0, true];
    const count = () => {
      turn++;
      if (isRunning) setImmediate(count);
    };
    count();
    const ends = Array.from({ length: 10 }, async () => {
      await writeData({ list: Array.from({ length: 1000 }, () => 'x'.repeat(650)) }, 2_000_000);
      return turn;
    });
    expect(new Set(await Promise.all(ends)).size).toBe(10);
    isRunning = false;
  });

  it('is limited in bytes, not in characters', async () => {
    const long = { list: Array.from({ length: 1000 }, () => 'é"'.repeat(100)) };
    const bytes = Buffer.byteLength(JSON.stringify(long));
    await expect(writeData({ ...long }, bytes)).resolves.toBeUndefined();
    await expect(writeData({ ...long }, bytes - 1)).rejects.toThrow(
      `more than ${(bytes - 1).toLocaleString('en')} bytes`,
    );
  });
});

describe('places for large operations', () => {
  it('are given to callers in turn, and each place is released once', async () => {
    const places = createLargeOperations(1);
    const first = await places.enter('a');
    const order: string[] = [];
    const waiting = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map(async (name) => {
      const leave = await places.enter(name.charAt(0));
      order.push(name);
      leave();
      leave();
    });
    first();
    await Promise.all(waiting);
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  it('are not waited for by a caller whose waiting operations hold much; others, and what holds nothing, wait', async () => {
    const places = createLargeOperations(1);
    const leave = await places.enter('a');
    const mib = 1024 * 1024;
    const waiting = [
      places.enter('a', 21 * mib),
      places.enter('a', 12 * mib),
      places.enter('b', 31 * mib),
      places.enter('a'),
    ];
    await expect(places.enter('a', 1)).rejects.toMatchObject({ code: 'internal_error', status: 503 });
    leave();
    for (const each of waiting) each.then((end) => end());
    await Promise.all(waiting);
    (await places.enter('a', 64 * mib))();
  });

  it('are waited for by operations that hold 64 MiB at most, of any number of callers: whoever holds most pays', async () => {
    const places = createLargeOperations(1);
    const leave = await places.enter('busy');
    const mib = 1024 * 1024;
    const refused: string[] = [];
    const served: string[] = [];
    const enter = (caller: string, bytes: number) =>
      places.enter(caller, bytes).then(
        (end) => {
          served.push(caller);
          end();
        },
        () => refused.push(caller),
      );
    const all = [enter('greedy', 14 * mib), enter('greedy', 10 * mib)];
    for (let nth = 0; nth < 12; nth++) all.push(enter(`small ${nth}`, 3 * mib));
    // 60 MiB: one more fits, the next does not.
    all.push(enter('small 12', 3 * mib), enter('small 13', 3 * mib), enter('small 14', 3 * mib));
    await new Promise(setImmediate);
    expect(refused).toEqual(['greedy']);
    leave();
    await Promise.all(all);
    expect(refused).toEqual(['greedy']);
    expect(served.filter((caller) => caller.startsWith('small'))).toHaveLength(15);
    expect(served.filter((caller) => caller === 'greedy')).toHaveLength(1);
    await enter('greedy', 64 * mib);
    expect(served.at(-1)).toBe('greedy');
  });

  it('are kept by what has begun, however much begins to wait in the same turn', async () => {
    const places = createLargeOperations(1);
    const mib = 1024 * 1024;
    const begun = places.enter('a', 40 * mib);
    const waiting = places.enter('b', 30 * mib);
    let isWaiting = true;
    void waiting.then(() => {
      isWaiting = false;
    });
    const leave = await begun;
    await new Promise(setImmediate);
    expect(isWaiting).toBe(true);
    leave();
    (await waiting)();
  });

  it('that are not released in time cause a 503, and a caller that timed out gets no place later', async () => {
    const places = createLargeOperations(1, 20);
    const leave = await places.enter('a');
    await expect(places.enter('b')).rejects.toMatchObject({ code: 'internal_error', status: 503 });
    leave();
    (await places.enter('c'))();
    (await places.enter('c'))();
  });
});
