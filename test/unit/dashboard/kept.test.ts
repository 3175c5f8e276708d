import { afterEach, expect, it, vi } from 'vitest';
import { forgetKept, keyOfKept } from '../../../src/dashboard/interface/kept.ts';

afterEach(() => vi.unstubAllGlobals());

/** A storage whose keys are properties, as in a browser. */
const storageWith = (...keys: readonly string[]) =>
  Object.defineProperty(Object.fromEntries(keys.map((key) => [key, '{}'])), 'removeItem', {
    value(this: Record<string, string>, key: string) {
      delete this[key];
    },
  });

it('keeps things of each person apart, and forgets those of all, but not what a browser is set to', () => {
  const keys = ['prs_1', 'prs_2'].map((id) => keyOfKept('look', id, 'ten_1 test'));
  expect(new Set(keys).size).toBe(2);
  const [tab, browser] = [
    storageWith(keyOfKept('typed', 'prs_1', '/x'), 'other'),
    storageWith(...keys, 'language', 'looks'),
  ];
  vi.stubGlobal('sessionStorage', tab);
  vi.stubGlobal('localStorage', browser);
  forgetKept();
  expect([Object.keys(tab), Object.keys(browser)]).toEqual([['other'], ['language', 'looks']]);
});

it('forgets what it can where a browser stores nothing for the page', () => {
  const browser = storageWith(keyOfKept('look', 'prs_1', 'ten_1 test'));
  vi.stubGlobal('localStorage', browser);
  forgetKept();
  expect(Object.keys(browser)).toEqual([]);
});
