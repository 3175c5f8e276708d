import fc from 'fast-check';
import { buildSchema, execute, type GraphQLObjectType, type GraphQLResolveInfo, graphql, parse } from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { describe, expect, it, vi } from 'vitest';
import { createAnswerMeter, metered } from '../../../src/graphql/answer-meter.ts';
import { resultText, writeData } from '../../../src/graphql/answer-text.ts';
import { unboundedLists } from '../../../src/graphql/field-weights.ts';
import { createLargeOperations } from '../../../src/graphql/large-operations.ts';
import { schema } from '../../../src/graphql/schema.ts';
import { anyText } from '../../support/any-text.ts';

describe('lists', () => {
  it('of the schema each state their maximum length', () => {
    expect(unboundedLists(schema)).toEqual([]);
  });

  it('without a maximum length are found; the rows of a connection need none', () => {
    const other = buildSchema(`
      type Query { rows(first: Int): RowConnection! names: [String!]! }
      type RowConnection { nodes: [Row!]! }
      type Row { lines: [Int!]! }
    `);
    expect(unboundedLists(other)).toEqual(['Query.names', 'Row.lines']);
  });

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

  it.each([
    // The rows and their two fields each.
    ['{ rows { a b } }', 10, 0, 30],
    ['{ rows { a inner { c } } }', 10, 0, 40],
    ['{ rows { ...F ... { b } } } fragment F on Row { a }', 10, 0, 30],
    // The cells and their fields. The list itself counts as a field of the row.
    ['{ rows { cells { a } } }', 10, 7, 20 + 10 * 14],
  ])('are counted by their actual length: %s', async (source, rows, cells, fields) => {
    const run = async (most: number) => {
      const meter = createAnswerMeter(most);
      const { errors } = await graphql({
        schema: lists,
        source,
        rootValue: rowsOf(rows, cells),
        contextValue: { meter },
      });
      expect(errors).toBeUndefined();
      return meter.exceeded;
    };
    expect(await run(fields)).toBeNull();
    expect((await run(fields - 1))?.message).toContain(`more than ${fields - 1} fields`);
  });

  it('of warnings are computed once for an invoice, however many aliases select them', async () => {
    const context = { principal: { kind: 'secret' }, useCases: { invoiceWarnings: vi.fn(async () => []) } };
    const { warnings } = (schema.getType('Invoice') as GraphQLObjectType).getFields();
    for (const invoice of [{ id: 'inv_1' }, { id: 'inv_2' }]) {
      const ask = () => warnings?.resolve?.(invoice, {}, context, {} as GraphQLResolveInfo);
      await Promise.all([ask(), ask(), ask()]);
    }
    expect(context.useCases.invoiceWarnings).toHaveBeenCalledTimes(2);
  });

  it('that are long are resolved in turns of the event loop, with the same answer', async () => {
    const [document, rootValue] = [parse('{ rows { a b cells { a } } }'), rowsOf(4000, 2)];
    const wanted = execute({ schema: lists, document, rootValue });
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const meter = () => createAnswerMeter(Number.POSITIVE_INFINITY);
    expect(await execute({ schema: lists, document, rootValue, contextValue: { meter: meter() } })).toEqual(wanted);
    const compiled = compileQuery(lists, document);
    if (!isCompiledQuery(compiled)) throw new Error('it can not be compiled');
    expect(await compiled.query(rootValue, { meter: meter() }, {})).toEqual(wanted);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(3);
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

  it('that are not released in time cause a 503, and a caller that timed out gets no place later', async () => {
    const places = createLargeOperations(1, 20);
    const leave = await places.enter('a');
    await expect(places.enter('b')).rejects.toMatchObject({ code: 'internal_error', status: 503 });
    leave();
    (await places.enter('c'))();
    (await places.enter('c'))();
  });
});
