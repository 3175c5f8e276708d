import { firstDifference, isOlder, type TimeZoneData } from '../domain/morocco/compare-offsets.ts';
import { MOROCCAN_TIME, moroccanZone } from '../domain/morocco/time.ts';
import { timestampOf } from '../domain/timestamp.ts';
import type { Finding } from './doctor-checks.ts';

/** Compares the service's own offsets of Morocco with Node's time zone data, which has no version date. */
export function checkTimeZone(data: TimeZoneData, now: Date): Finding {
  const subject = 'time zone';
  const own = `Morocco is at ${moroccanZone(now)} (IANA ${MOROCCAN_TIME.version}, read on ${MOROCCAN_TIME.readOn})`;
  const others = `Node's data (${data.version || 'of an unknown version'})`;
  const from = firstDifference(data, now);
  if (from === null) return { subject, state: 'works', found: `${own}; ${others} agrees` };
  if (isOlder(data)) return { subject, state: 'works', found: `${own}; ${others} is older, and is not used` };
  const begins = from > now ? `from ${timestampOf(from)} on` : 'now';
  return {
    subject,
    found: `${own}, but ${others} has another offset ${begins}`,
    ...(from > now
      ? {
          state: 'warns',
          advice:
            'Install a newer version of the service before then. Until it is installed, no live keys can be made.',
        }
      : {
          state: 'fails',
          advice:
            'Install a newer version of the service. Until it is installed, new live invoices are refused: their dates could be wrong.',
        }),
  };
}
