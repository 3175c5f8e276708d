import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type AttemptKind, createPlaces, type Place } from '../../../src/domain/webhook/places.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

function office() {
  let told = 0;
  const places = createPlaces(() => {
    told++;
  });
  /** Takes places until there is none. */
  const takeAll = (kind: AttemptKind): Place[] => {
    const place = places.take(kind);
    return place ? [place, ...Array.from(rest(kind))] : [];
  };
  function* rest(kind: AttemptKind) {
    for (let place = places.take(kind); place; place = places.take(kind)) yield place;
  }
  return { places, takeAll, told: () => told };
}

it('there are 512, half of them for attempts that may well hang', () => {
  const { places, takeAll } = office();
  const doubtful = takeAll('doubtful');
  expect(doubtful).toHaveLength(256);
  expect(takeAll('sound')).toHaveLength(256);
  for (const place of doubtful) places.giveBack(place);
  expect(takeAll('sound')).toHaveLength(256);
  expect(takeAll('doubtful')).toHaveLength(0);
});

it('attempts that hang leave theirs to others after a second, up to 1,536 of them', () => {
  const { places, takeAll, told } = office();
  const first = takeAll('sound');
  vi.advanceTimersByTime(999);
  expect([takeAll('sound').length, told()]).toEqual([0, 0]);
  vi.advanceTimersByTime(1);
  expect(told()).toBe(1);
  let hanging = first.length;
  for (; hanging < 1536; hanging += 512) {
    expect(takeAll('sound')).toHaveLength(512);
    vi.advanceTimersByTime(1000);
  }
  expect(takeAll('sound')).toHaveLength(512);
  vi.advanceTimersByTime(10_000);
  expect(takeAll('sound')).toHaveLength(0);
  // One that hung is over: another one can be set apart for it, and its place is free.
  places.giveBack(first[0] as Place);
  expect(takeAll('sound')).toHaveLength(1);
});
