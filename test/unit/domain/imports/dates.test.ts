import { describe, expect, it } from 'vitest';
import { dateOf, decideOrder } from '../../../../src/domain/imports/dates.ts';

describe('dates in texts', () => {
  it.each([
    ['2026-01-31', '2026-01-31', 'ymd'],
    ['2026/1/5', '2026-01-05', 'ymd'],
    ['20260131', '2026-01-31', 'ymd'],
    ['2026-01-31T10:15:00Z', '2026-01-31', 'ymd'],
    ['2026-01-31 23:59:59 +0100', '2026-01-31', 'ymd'],
    ['31/01/2026', '2026-01-31', 'dmy'],
    ['31-1-26', '2026-01-31', 'dmy'],
    ['31.01.2026 08h30', '2026-01-31', 'dmy'],
    ['01/31/2026', '2026-01-31', 'mdy'],
    ['05/05/2026', '2026-05-05', null],
    ['31 janvier 2026', '2026-01-31', null],
    ['31-janv.-26', '2026-01-31', null],
    ['samedi 31 janvier 2026', '2026-01-31', null],
    ['mardi 31 mars 2026', '2026-03-31', null],
    ['Jan 31, 2026', '2026-01-31', null],
    ['1 AOÛT 2026', '2026-08-01', null],
    ['٣١ يناير ٢٠٢٦', '2026-01-31', null],
    ['31 غشت 2026', '2026-08-31', null],
    ['31 دجنبر 2026', '2026-12-31', null],
  ])('reads %s as %s, whose order is %s', (text, day, order) => {
    expect(dateOf(text)).toMatchObject({ day, order });
  });

  it.each(['', '31/02/2026', '2026-13-01', '32/01/2026', 'demain', '2026', '31/01', '1 2 3 4', 'janvier 2026'])(
    'does not read %j',
    (text) => {
      expect(dateOf(text)).toBeNull();
    },
  );

  it('leaves open which number is the day', () => {
    expect(dateOf('05/03/2026')).toMatchObject({ day: null, byOrder: { dmy: '2026-03-05', mdy: '2026-05-03' } });
  });

  it('takes the order that the file shows, and the day first without any', () => {
    expect(decideOrder({ dmy: 0, ymd: 0, mdy: 0 })).toBe('dmy');
    expect(decideOrder({ dmy: 0, ymd: 0, mdy: 2 })).toBe('mdy');
    expect(decideOrder({ dmy: 1, ymd: 0, mdy: 2 })).toBeNull();
    // One date may be a typing error.
    expect(decideOrder({ dmy: 0, ymd: 0, mdy: 1 }, 5)).toBeNull();
    expect(decideOrder({ dmy: 0, ymd: 2, mdy: 0 })).toBe('ymd');
  });
});
