import { expect, it } from 'vitest';
import { type ProcessFacts, readStat, usageOf } from '../../../scripts/bench/process-tree.ts';

it('reads a process whose name holds spaces and parentheses', () => {
  const before = '4711 (a (b) c) S 12 34 34 0 -1 4194560 100 0 0 0';
  const facts = readStat(`${before} 150 50 7 7 20 0 11 0 9 1000000 2048 18446744073709551615`);
  expect(facts).toEqual({
    pid: 4711,
    name: 'a (b) c',
    parent: 12,
    group: 34,
    cpuMs: 2000,
    residentBytes: 2048 * 4096,
  });
});

it('adds up a process and its descendants, Chromium with everything below it apart', () => {
  const facts = (pid: number, parent: number, name: string): ProcessFacts => ({
    pid,
    parent,
    name,
    group: 1,
    cpuMs: 10 ** pid,
    residentBytes: 2 * 10 ** pid,
  });
  const all = [
    facts(0, 9, 'node'),
    facts(1, 0, 'engine'),
    facts(2, 0, 'chromium'),
    facts(3, 2, 'helper'),
    facts(4, 9, 'somebody else'),
  ];
  expect(usageOf(0, all)).toEqual({
    service: { cpuMs: 11, residentBytes: 22 },
    chromium: { cpuMs: 1100, residentBytes: 2200 },
  });
  expect(usageOf(5, all).service.cpuMs).toBe(0);
});
