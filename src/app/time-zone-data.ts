import type { Logger } from 'pino';
import { firstDifference, isOlder, type TimeZoneData } from '../domain/morocco/compare-offsets.ts';
import { MOROCCAN_TIME } from '../domain/morocco/time.ts';
import { timestampOf } from '../domain/timestamp.ts';

const CASABLANCA = new Intl.DateTimeFormat('en', { timeZone: 'Africa/Casablanca', timeZoneName: 'longOffset' });

/** Node's data of Morocco's time. The service only compares its own data with it, and never computes a date by it. */
export const NODE_TIME_ZONE: TimeZoneData = {
  version: process.versions.tz ?? '',
  offset(at) {
    const [, sign = '+', hours = 0, minutes = 0] = /GMT(?:([+-])(\d\d):(\d\d))?/.exec(CASABLANCA.format(at)) ?? [];
    return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  },
};

/** Logs for operators if, by Node's data, the service's offsets of Morocco are or will be out of date. */
export function tellOutdatedOffsets(log: Pick<Logger, 'warn' | 'error'>, data: TimeZoneData, now: Date): void {
  const from = isOlder(data) ? null : firstDifference(data, now);
  if (from === null) return;
  const facts = { from: timestampOf(from), timeZoneData: data.version, own: MOROCCAN_TIME.version };
  if (from > now)
    log.warn(facts, "Morocco's time changes, and this version does not know it: install a newer one before");
  else
    log.error(
      facts,
      "this version does not know Morocco's time as Node's data has it: install a newer one. New live invoices are refused until then",
    );
}
