import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { changesSince, lastLook } from '../../../src/dashboard/home/last-look.ts';

const kept = new Map<string, string>();
beforeEach(() => {
  kept.clear();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  });
});
afterEach(() => vi.unstubAllGlobals());

const at = (minutes: number) => new Date(Date.UTC(2026, 10, 30, 8, minutes));
const figures = (count: number, total = BigInt(count) * 100n) => ({ count, total });
const seen = (accepted: number, open = 0) => ({
  invoiced: figures(accepted),
  credited: figures(0),
  open: figures(open),
  rejected: figures(0),
});
const NOVEMBER = '2026-11';

it('compares with the end of the look before, however often a page is read again', () => {
  expect(lastLook('k', at(0)).seenBefore([NOVEMBER])).toBeNull();
  lastLook('k', at(0)).see({ [NOVEMBER]: seen(1) }, at(0));
  lastLook('k', at(10)).see({ [NOVEMBER]: seen(2) }, at(10));
  // Still the first look.
  expect(lastLook('k', at(20)).seenBefore([NOVEMBER])).toBeNull();
  const next = lastLook('k', at(41));
  expect(next.seenBefore([NOVEMBER])).toEqual({ at: at(10).toISOString(), months: { [NOVEMBER]: seen(2) } });
  next.see({ [NOVEMBER]: seen(9) }, at(41));
  expect(lastLook('k', at(42)).seenBefore([NOVEMBER])?.months).toEqual({ [NOVEMBER]: seen(2) });
  expect(lastLook('k', at(90)).seenBefore([NOVEMBER])?.months).toEqual({ [NOVEMBER]: seen(9) });
  // What was seen of other months says nothing, nor does another workspace.
  expect(lastLook('k', at(90)).seenBefore(['2027-02'])).toBeNull();
  expect(lastLook('other', at(90)).seenBefore([NOVEMBER])).toBeNull();
});

it('adds the changes of each month, and takes a new month for new', () => {
  const then = { '2026-10': seen(5, 2), [NOVEMBER]: seen(3, 4) };
  const now = { [NOVEMBER]: seen(8, 1), '2026-12': seen(2, 1) };
  expect(changesSince(now, then)).toMatchObject({ invoiced: figures(7), open: figures(-2), credited: figures(0) });
});

it.each(['', '{', '{"latest":{}}', '[]', 'null'])('begins anew with what is not its own: %s', (text) => {
  kept.set('k', text);
  expect(lastLook('k', at(0)).seenBefore([NOVEMBER])).toBeNull();
});
