import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { NODE_TIME_ZONE } from '../../../src/app/time-zone-data.ts';
import * as pages from '../../../src/dashboard/text/moroccan-time.ts';
import {
  MOROCCAN_TIME,
  moroccanDate,
  moroccanOffset,
  moroccanYear,
  moroccanZone,
  startOfMoroccanDay,
} from '../../../src/domain/morocco/time.ts';
import { TOLD_OFFSETS, tellOffsets } from '../../support/moroccan-offsets.ts';
import { withoutThatOf2026c } from '../../support/other-time-zone-data.ts';

const HOUR = 3_600_000;
const [FIRST, LAST] = [MOROCCAN_TIME.changes[0], MOROCCAN_TIME.changes.at(-1) ?? MOROCCAN_TIME.changes[0]];

it('the offsets are those of the IANA database, as Node has it', () => {
  // Data before 2026c does not know that Morocco stays at UTC+0.
  const end = NODE_TIME_ZONE.version < '2026c' ? Date.parse(LAST.from) : Date.UTC(2040, 0);
  const others: string[] = [];
  for (let time = Date.parse(FIRST.from); time < end; time += HOUR) {
    const at = new Date(time);
    if (moroccanOffset(at) !== NODE_TIME_ZONE.offset(at)) others.push(at.toISOString());
  }
  expect(others).toEqual([]);
});

it('each change begins at its instant, and the rows are in their order', () => {
  const times = MOROCCAN_TIME.changes.map(({ from }) => Date.parse(from));
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  for (const [i, { from, minutes }] of MOROCCAN_TIME.changes.entries()) {
    const before = MOROCCAN_TIME.changes[i - 1] ?? FIRST;
    expect(moroccanOffset(new Date(from))).toBe(minutes);
    expect(moroccanOffset(new Date(Date.parse(from) - 1))).toBe(before.minutes);
  }
});

it.each([
  ['2025-12-31T22:59:59.999Z', '2025-12-31', 2025, 'UTC+1'],
  ['2025-12-31T23:00:00Z', '2026-01-01', 2026, 'UTC+1'],
  ['2026-03-10T23:30:00Z', '2026-03-10', 2026, 'UTC+0'],
  ['2026-09-19T23:30:00Z', '2026-09-20', 2026, 'UTC+1'],
  ['2026-12-31T23:32:00Z', '2026-12-31', 2026, 'UTC+0'],
  ['2001-01-01T00:00:00Z', '2001-01-01', 2001, 'UTC+0'],
])('%s is in Morocco %s, of %i, at %s', (instant, date, year, zone) => {
  const at = new Date(instant);
  expect([moroccanDate(at), moroccanYear(at), moroccanZone(at)]).toEqual([date, year, zone]);
  expect(startOfMoroccanDay(date)).toBeLessThanOrEqual(at.getTime());
  expect(at.getTime() - startOfMoroccanDay(date)).toBeLessThan(24 * HOUR);
});

beforeEach(tellOffsets);

it('the pages know what the server tells them, and no more', () => {
  pages.takeOffsets('');
  expect(pages.plainMoment(new Date('2026-07-01T23:30:00Z'))).toBe('2026-07-01 23:30:00 UTC+0');
  tellOffsets();
  for (const { from } of MOROCCAN_TIME.changes) {
    for (const time of [Date.parse(from) - 1, Date.parse(from)]) {
      const at = new Date(time);
      expect(pages.moroccanOffset(at)).toBe(moroccanOffset(at));
      expect(pages.moroccanDate(at)).toBe(moroccanDate(at));
    }
  }
  expect(pages.plainMoment(new Date('2026-07-01T23:30:00Z'))).toBe('2026-07-02 00:30:00 UTC+1');
});

describe('with time zone data from before Morocco stayed at UTC+0', () => {
  let undo: () => void;
  beforeAll(() => {
    undo = withoutThatOf2026c();
    vi.resetModules();
  });
  afterAll(() => {
    undo();
    vi.resetModules();
  });
  const newYearsEve = new Date('2026-12-31T23:32:00Z');

  it('the stand-in is what it says', () => {
    const format = new Intl.DateTimeFormat('en-CA', { timeZone: 'Africa/Casablanca', dateStyle: 'short' });
    expect(format.format(newYearsEve)).toBe('2027-01-01');
  });

  it('an invoice of 23:32 UTC on 31 December has that day and that year’s number', async () => {
    const { legalInvoice } = await import('../../../src/domain/invoice/legal-invoice.ts');
    const { legalNumber, seriesOf } = await import('../../../src/domain/invoice/series-number.ts');
    const { pendingInvoice } = await import('../../support/invoices.ts');
    const number = legalNumber({ name: seriesOf({ kind: 'invoice', createdAt: newYearsEve }), serial: 1 });
    expect(number).toBe('2026-000001');
    expect(legalInvoice(pendingInvoice({ createdAt: newYearsEve }), number).issueDate).toBe('2026-12-31');
  });

  it('its documents and its pages tell the same time, with day, year and zone', async () => {
    const { FORMATS } = await import('../../../src/text/document-format.ts');
    expect(FORMATS.fr.moment(newYearsEve)).toBe('31 décembre 2026 à 23:32:00 (UTC+0)');
    expect(FORMATS.en.moment(newYearsEve)).toBe('31 December 2026 at 23:32:00 (UTC+0)');
    expect(FORMATS.ar.moment(newYearsEve)).toBe('31 دجنبر 2026 في 23:32:00 (UTC+0)');
    const { takeOffsets } = await import('../../../src/dashboard/text/moroccan-time.ts');
    takeOffsets(TOLD_OFFSETS);
    const { formatDate, formatMoment } = await import('../../../src/dashboard/text/dates.ts');
    const instant = newYearsEve.toISOString();
    expect(formatMoment(instant, 'fr')).toBe('31 déc. 2026, 23:32:00 (UTC+0)');
    expect(formatMoment(instant, 'en')).toBe('31 Dec 2026, 23:32:00 (UTC+0)');
    expect(formatMoment(instant, 'ar')).toBe('31 دجنبر 2026، 23:32:00 (UTC+0)');
    expect(formatDate(instant, 'fr')).toBe('31 décembre 2026');
  });
});
