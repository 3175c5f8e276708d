import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createMissingForIssue } from '../../../src/app/live-needs.ts';
import { missingInstallation } from '../../../src/app/live-settings.ts';
import { tellOutdatedOffsets } from '../../../src/app/time-zone-data.ts';
import { checkTimeZone } from '../../../src/cli/doctor-time-zone.ts';
import { readConfig } from '../../../src/config.ts';
import { firstDifference, type TimeZoneData } from '../../../src/domain/morocco/compare-offsets.ts';
import { MOROCCAN_TIME, moroccanOffset } from '../../../src/domain/morocco/time.ts';

const NOW = new Date('2026-12-01T12:00:00Z');
const LATER = '2027-02-07T02:00:00.000Z';

/** The service's own offsets, with a further change. */
function data(version: string, change: { from: string; minutes: number } | null): TimeZoneData {
  return {
    version,
    offset: (at) => (change !== null && at >= new Date(change.from) ? change.minutes : moroccanOffset(at)),
  };
}

const AGREES = data('2027b', null);
/** As of tz 2026b, which has Morocco at UTC+1. */
const OLDER = data('2026b', { from: '2026-09-20T01:00:00Z', minutes: 60 });
const CHANGES_LATER = data('2027a', { from: LATER, minutes: 60 });
const CHANGED = data('2026z', { from: '2026-11-30T02:00:00Z', minutes: 60 });
const CHANGES_IN_YEARS = data('2027a', { from: '2028-05-01T02:00:00Z', minutes: 60 });

beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

it('the first difference is found to the hour, within a year', () => {
  expect(firstDifference(CHANGES_LATER, NOW)?.toISOString()).toBe(LATER);
  expect(firstDifference(CHANGED, NOW)).toEqual(NOW);
  expect(firstDifference(CHANGES_IN_YEARS, NOW)).toBeNull();
  expect(firstDifference(AGREES, NOW)).toBeNull();
});

const settings = { ...readConfig({ DGI_URL: 'https://authority.example', SIGNING_P12: 'seal.p12' }) };
const means = { hasAuthority: true, signers: () => null };

it.each<[string, TimeZoneData, { keys: string[]; invoices: string[]; doctor: string; log: [string, string][] }]>([
  ['agrees', AGREES, { keys: [], invoices: [], doctor: 'works', log: [] }],
  ['is older', OLDER, { keys: [], invoices: [], doctor: 'works', log: [] }],
  ['of no version', data('', { from: LATER, minutes: 60 }), { keys: [], invoices: [], doctor: 'works', log: [] }],
  ['has a change in two years', CHANGES_IN_YEARS, { keys: [], invoices: [], doctor: 'works', log: [] }],
  [
    'has a change within a year',
    CHANGES_LATER,
    { keys: ['clock'], invoices: [], doctor: 'warns', log: [['warn', '2027-02-07T02:00:00Z']] },
  ],
  [
    'has another time now',
    CHANGED,
    { keys: ['clock'], invoices: ['clock'], doctor: 'fails', log: [['error', '2026-12-01T12:00:00Z']] },
  ],
])('Node’s data %s: new live keys, new live invoices, doctor, log', async (_name, timeZone, expected) => {
  const conditions = (missing: readonly { condition: string }[]) => missing.map(({ condition }) => condition);
  expect(conditions(await missingInstallation(settings, 'ten_1', timeZone))).toEqual(expected.keys);
  expect(conditions(createMissingForIssue({ ...means, timeZone })('ten_1'))).toEqual(expected.invoices);
  expect(checkTimeZone(timeZone, NOW)).toMatchObject({ subject: 'time zone', state: expected.doctor });
  const told: [string, string][] = [];
  const tell = (level: string) => (facts: object) => void told.push([level, (facts as { from: string }).from]);
  tellOutdatedOffsets({ warn: tell('warn'), error: tell('error') } as never, timeZone, NOW);
  expect(told).toEqual(expected.log);
});

it('new live invoices are refused from the change on, without a restart', () => {
  const missingOf = createMissingForIssue({ ...means, timeZone: CHANGES_LATER });
  expect(missingOf('ten_1')).toEqual([]);
  vi.setSystemTime(new Date(LATER));
  expect(missingOf('ten_1')).toMatchObject([{ condition: 'clock', text: expect.stringContaining('doctor') }]);
});

it('doctor says which data there is, and what to do', () => {
  const own = `Morocco is at UTC+0 (IANA ${MOROCCAN_TIME.version}, read on ${MOROCCAN_TIME.readOn})`;
  expect(checkTimeZone(OLDER, NOW).found).toBe(`${own}; Node's data (2026b) is older, and is not used`);
  expect(checkTimeZone(AGREES, NOW).found).toBe(`${own}; Node's data (2027b) agrees`);
  expect(checkTimeZone(CHANGES_LATER, NOW)).toMatchObject({
    found: `${own}, but Node's data (2027a) has another offset from 2027-02-07T02:00:00Z on`,
    advice: expect.stringContaining('Install a newer version'),
  });
});
