import { beforeEach, expect, it } from 'vitest';
import { createServerClock, type LocalClock } from '../../../src/adapters/authority/http/server-clock.ts';

const START = Date.UTC(2026, 10, 22, 10);
let wall: number;
let monotonic: number;
const local: LocalClock = { wall: () => wall, monotonic: () => monotonic };

beforeEach(() => {
  [wall, monotonic] = [START, 1000];
});

function pass(milliseconds: number): void {
  wall += milliseconds;
  monotonic += milliseconds;
}

const header = (time: number) => new Date(time).toUTCString();

it('before the first answer it is this machine’s', () => {
  const clock = createServerClock(local);
  expect([clock.now(), clock.offset()]).toEqual([START, null]);
});

it.each([600_000, -600_000])('keeps an offset of %i ms, to the second', (offset) => {
  const clock = createServerClock(local);
  clock.learn(header(START + offset), 0);
  expect(Math.abs(clock.now() - START - offset)).toBeLessThanOrEqual(500);
  pass(90_000);
  expect(Math.abs(clock.now() - START - 90_000 - offset)).toBeLessThanOrEqual(500);
  expect(Math.abs((clock.offset() ?? 0) - offset)).toBeLessThanOrEqual(500);
});

it('goes on when this machine’s clock is set', () => {
  const clock = createServerClock(local);
  clock.learn(header(START), 0);
  wall -= 3_600_000;
  monotonic += 5000;
  expect(Math.abs(clock.now() - START - 5000)).toBeLessThanOrEqual(500);
});

it.each([undefined, '', 'yesterday'])('ignores a Date header that is none (%s)', (date) => {
  const clock = createServerClock(local);
  clock.learn(date, 0);
  expect(clock.offset()).toBeNull();
});

it('a slow answer corrects nothing that is known better', () => {
  const clock = createServerClock(local);
  clock.learn(header(START), 10);
  clock.learn(header(START - 20_000), 29_000);
  expect(Math.abs(clock.now() - START)).toBeLessThanOrEqual(600);
});

it('before its first answer it is that of the fallback', () => {
  const authority = createServerClock(local);
  const clock = createServerClock(local, authority);
  authority.learn(header(START + 600_000), 0);
  expect(clock.now()).toBe(authority.now());
  clock.learn(header(START), 0);
  expect(clock.now()).toBeLessThan(START + 1000);
});
