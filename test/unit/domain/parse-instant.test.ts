import { expect, it } from 'vitest';
import { parseInstant } from '../../../src/domain/invoice/list-invoices-input.ts';

it.each([
  ['2026-01-31', '2026-01-31T00:00:00.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['2026-01-31T12:00Z', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31T12:00:30Z', '2026-01-31T12:00:30.000Z'],
  ['2026-01-31T12:00:00+01', '2026-01-31T11:00:00.000Z'],
  ['2026-01-31T12:00:00+0130', '2026-01-31T10:30:00.000Z'],
  ['2026-01-31T12:00:00-01:30', '2026-01-31T13:30:00.000Z'],
  ['2026-01-31T12:00+01', '2026-01-31T11:00:00.000Z'],
  ['2026-01-31T12:00:00,5Z', '2026-01-31T12:00:00.500Z'],
  ['2026-01-31T12:00:00.123456789+01', '2026-01-31T11:00:00.123Z'],
  ['2026-01-31T24:00:00Z', '2026-02-01T00:00:00.000Z'],
])('an instant in ISO 8601: %s', (text, expected) => {
  expect(parseInstant(text)?.toISOString()).toBe(expected);
});

it.each([
  ['no zone', '2026-01-31T12:00:00'],
  ['a date with a zone', '2026-01-31Z'],
  ['no such day', '2026-02-29'],
  ['no such day in a zone', '2026-02-29T00:00:00+01'],
  ['no such hour', '2026-01-31T25:00Z'],
  ['no such zone', '2026-01-31T12:00+99'],
  ['before year 0 in UTC', '0000-01-01T00:00:00+01:00'],
  ['after year 9999 in UTC', '9999-12-31T23:59:59-01:00'],
  ['a month', '2026-01'],
  ['a week', '2026-W05-6'],
  ['the basic format', '20260131T120000Z'],
  ['a space', '2026-01-31 12:00:00Z'],
  ['another line', '2026-01-31\n'],
  ['nothing', ''],
])('not accepted: %s', (_name, text) => {
  expect(parseInstant(text)).toBeNull();
});
