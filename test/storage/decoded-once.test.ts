import { BSON } from 'mongodb';
import { expect, it } from 'vitest';
import { decodedOnce } from '../../src/storage/decoded-once.ts';

interface Row {
  _id: string;
  n: unknown;
}

/** Counts the conversions. */
function counting() {
  let made = 0;
  const decode = decodedOnce((row: Row) => {
    made++;
    return { n: row.n };
  });
  return { decode: (row: object) => decode(BSON.serialize(row)), made: () => made };
}

it('decodes an unchanged document once, and a changed one again', () => {
  const { decode, made } = counting();
  const first = decode({ _id: 'row_é', n: 1 });
  expect(first).toMatchObject({ id: 'row_é', value: { n: 1 } });
  expect(decode({ _id: 'row_é', n: 1 }).value).toBe(first.value);
  expect(decode({ _id: 'row_2', n: 1 })).toMatchObject({ id: 'row_2', value: { n: 1 } });
  expect(made()).toBe(2);
  expect(decode({ _id: 'row_é', n: 2 }).value).toEqual({ n: 2 });
  expect(decode({ _id: 'row_é', n: 2n }).value).toEqual({ n: 2 });
  expect(decode({ _id: 'row_é', n: '2' }).value).toEqual({ n: '2' });
  expect(made()).toBe(5);
});

it('decodes documents that do not start with `_id`, or start with a field whose name starts with `_id`', () => {
  const { decode } = counting();
  for (const n of [1, 2]) {
    expect(decode({ n, _id: 'row_1' })).toMatchObject({ id: 'row_1', value: { n } });
    expect(decode({ _identity: 'row_1', n, _id: 'row_2' })).toMatchObject({ id: 'row_2', value: { n } });
    expect(decode({ _id: '', n })).toMatchObject({ id: '', value: { n } });
  }
});

it('copies the bytes, because those of the message may be overwritten', () => {
  const decode = decodedOnce((row: Row) => ({ n: row.n }));
  const bytes = BSON.serialize({ _id: 'row_1', n: 1 });
  expect(decode(bytes).value).toEqual({ n: 1 });
  bytes.set(BSON.serialize({ _id: 'row_1', n: 2 }));
  expect(decode(bytes).value).toEqual({ n: 2 });
});

it('returns shared values that are frozen', () => {
  const { decode } = counting();
  const at = new Date(0);
  const { n } = decode({ _id: 'row_1', n: { list: [{ deep: 1 }], at, bytes: new Uint8Array(2) } }).value as {
    n: { list: { deep: number }[] };
  };
  expect(() => n.list.push({ deep: 2 })).toThrow(TypeError);
  expect(() => Object.assign(n.list[0] ?? {}, { deep: 2 })).toThrow(TypeError);
  expect(n).toMatchObject({ list: [{ deep: 1 }], at });
});

it('caches four mebibytes, the most recently read ones', () => {
  const { decode, made } = counting();
  const large = 'x'.repeat(1024 * 1024);
  const rows = Array.from({ length: 5 }, (_, i) => ({ _id: `row_${i}`, n: large }));
  for (const row of rows) decode(row);
  expect(made()).toBe(5);
  decode(rows[4] ?? {});
  decode(rows[3] ?? {});
  expect(made()).toBe(5);
  decode(rows[0] ?? {});
  decode({ _id: 'row_huge', n: large.repeat(5) });
  expect(made()).toBe(7);
  decode(rows[0] ?? {});
  expect(made()).toBe(7);
});
