import { expect, it } from 'vitest';
import { byteRange } from '../../../src/transport/byte-range.ts';

it.each([
  ['bytes=0-0', { first: 0, last: 0 }],
  ['bytes=10-19', { first: 10, last: 19 }],
  ['bytes=90-', { first: 90, last: 99 }],
  ['bytes=90-1000', { first: 90, last: 99 }],
  ['bytes=-1', { first: 99, last: 99 }],
  ['bytes=-1000', { first: 0, last: 99 }],
  ['Bytes = 0 - 9', { first: 0, last: 9 }],
  ['bytes=100-', 'unsatisfiable'],
  ['bytes=100-200', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['', null],
  ['bytes=-', null],
  ['bytes=5-4', null],
  ['bytes=0-1,3-4', null],
  ['lines=0-1', null],
  ['bytes=0x1-2', null],
  ['bytes=99999999999999999999-', 'unsatisfiable'],
  ['bytes=0-99999999999999999999', { first: 0, last: 99 }],
  ['bytes=-99999999999999999999', { first: 0, last: 99 }],
] as const)('%j of 100 bytes', (header, expected) => {
  expect(byteRange(header, 100)).toEqual(expected);
});

it('of nothing no part can be had', () => {
  expect(byteRange('bytes=0-', 0)).toBe('unsatisfiable');
  expect(byteRange('bytes=-5', 0)).toBe('unsatisfiable');
});
