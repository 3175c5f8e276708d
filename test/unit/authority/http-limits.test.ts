import { beforeEach, describe, expect, it } from 'vitest';
import { createLimits, type Limits, type Place } from '../../../src/adapters/authority/http/limits.ts';

const MINUTE = 60_000;
const HOUR = 3_600_000;

let now: number;
let limits: Limits;

beforeEach(() => {
  now = 0;
  limits = limitsOf({});
});

function limitsOf(given: Partial<ReturnType<Parameters<typeof createLimits>[0]['limits']>>, concurrency = 16): Limits {
  const all = {
    submissionsPerMinute: 10,
    lookUpsPerMinute: 20,
    lookUpsPerSubmissionPerHour: 3,
    concurrent: 4,
    ...given,
  };
  return createLimits({ limits: () => all, concurrency, now: () => now });
}

/** Takes a place and leaves it at once. @returns the time to wait; 0 if there was a place */
function passed(place: Place): number {
  if (!place.free) return place.waitMs;
  place.end();
  return 0;
}

/** Takes places until there is none. */
function taken(take: () => Place, most = 1000): number {
  for (let count = 0; count < most; count++) if (passed(take()) > 0) return count;
  return most;
}

describe('submissions', () => {
  it('as many a minute as the authority allows, in every minute', () => {
    const sent: number[] = [];
    for (now = 0; now < 10 * MINUTE; now += 700) if (passed(limits.submission()) === 0) sent.push(now);
    for (const start of sent) {
      expect(sent.filter((each) => each >= start && each < start + MINUTE).length).toBeLessThanOrEqual(10);
    }
    expect(sent.length).toBeGreaterThan(90);
  });

  it('the time to wait is when the next one fits', () => {
    for (now = 0; now < 10_000; now += 1000) expect(passed(limits.submission())).toBe(0);
    expect(passed(limits.submission())).toBe(50_000);
    now = MINUTE - 1;
    expect(passed(limits.submission())).toBe(1);
    now = MINUTE;
    expect(passed(limits.submission())).toBe(0);
  });

  it('a submission counts until a minute after its end: the authority received it in between', () => {
    const [first] = [limits.submission(), taken(limits.submission)];
    now = MINUTE;
    expect(taken(limits.submission)).toBe(9);
    if (first.free) first.end();
    now = 2 * MINUTE - 1;
    expect(taken(limits.submission)).toBe(0);
    now = 2 * MINUTE;
    expect(taken(limits.submission)).toBe(10);
  });

  it.each([
    [16, 4, 4],
    [2, 4, 2],
  ])('with DGI_CONCURRENCY %i and %i of the authority, %i at the same time', (concurrency, concurrent, most) => {
    limits = limitsOf({ concurrent }, concurrency);
    const places = Array.from({ length: most }, () => limits.submission());
    expect(places.every(({ free }) => free)).toBe(true);
    expect(limits.submission()).toMatchObject({ free: false });
    if (places[0]?.free) places[0].end();
    expect(limits.submission()).toMatchObject({ free: true });
  });

  it('none while the authority has asked to wait', () => {
    limits.blockSubmissions(7000);
    expect(passed(limits.submission())).toBe(7000);
    now = 6999;
    expect(passed(limits.submission())).toBe(1);
    now = 7000;
    expect(passed(limits.submission())).toBe(0);
  });

  it('a longer wait is not shortened by a later, shorter one', () => {
    limits.blockSubmissions(7000);
    limits.blockSubmissions(1000);
    expect(passed(limits.submission())).toBe(7000);
  });
});

describe('look-ups', () => {
  it('of one submission: as many an hour as the authority allows', () => {
    expect(taken(() => limits.lookUp('inv_1'))).toBe(3);
    expect(passed(limits.lookUp('inv_1'))).toBe(HOUR);
    now = HOUR;
    expect(taken(() => limits.lookUp('inv_1'))).toBe(3);
  });

  it('of all submissions: as many a minute, and those that were kept back cost nothing', () => {
    let each = 0;
    expect(taken(() => limits.lookUp(`inv_${each++}`))).toBe(20);
    now = MINUTE;
    expect(taken(() => limits.lookUp('inv_20'))).toBe(3);
  });

  it('10,000 requests for look-ups within an hour make no more than the budget', () => {
    let made = 0;
    for (let each = 0; each < 10_000; each++) {
      now = each * 300;
      if (passed(limits.lookUp(`inv_${each % 5}`)) === 0) made++;
    }
    expect(made).toBe(15);
  });

  it('a refusal holds back its submission for all the time, and the others for a minute at most', () => {
    limits.blockLookUps('inv_1', HOUR);
    expect(passed(limits.lookUp('inv_2'))).toBe(MINUTE);
    now = MINUTE;
    expect(passed(limits.lookUp('inv_2'))).toBe(0);
    expect(passed(limits.lookUp('inv_1'))).toBe(HOUR - MINUTE);
  });

  it('submissions and look-ups do not take from one another', () => {
    expect(taken(limits.submission)).toBe(10);
    expect(passed(limits.lookUp('inv_1'))).toBe(0);
  });
});

describe('shared by workers', () => {
  it('each takes its part', () => {
    limits = limitsOf({ lookUpsPerSubmissionPerHour: 60 });
    limits.setShare(4);
    expect(taken(limits.submission)).toBe(2);
    expect(taken(() => limits.lookUp('inv_1'))).toBe(5);
    expect([limits.submission(), limits.submission()].filter(({ free }) => free)).toHaveLength(0);
  });

  it('at least one, however many there are', () => {
    limits.setShare(1000);
    expect(taken(limits.submission)).toBe(1);
    expect(taken(() => limits.lookUp('inv_1'))).toBe(1);
  });
});

it('a limit without end does not take memory without end', () => {
  limits = limitsOf({ submissionsPerMinute: Number.MAX_SAFE_INTEGER, concurrent: Number.MAX_SAFE_INTEGER });
  expect(taken(limits.submission, 100_000)).toBe(60_000);
});
