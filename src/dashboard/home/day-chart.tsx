import { useLanguage } from '../interface/language.tsx';
import { StackedBars } from '../interface/stacked-bars.tsx';
import { formatDay } from '../text/dates.ts';
import type { Day } from './documents.ts';

/** Shows each day's invoices as a bar: accepted, rejected, still open. */
export function DayChart({ days }: { days: readonly Day[] }) {
  const { texts, language } = useLanguage();
  const { perDay, day, open } = texts.home;
  return (
    <StackedBars
      caption={perDay}
      column={day}
      kinds={[
        { kind: 'accepted', name: texts.statusFilters.accepted },
        { kind: 'rejected', name: texts.statusFilters.rejected },
        { kind: 'open', name: open },
      ]}
      bars={[...days].reverse().map(({ date, accepted, rejected, pending, signing, transmitted }) => ({
        name: formatDay(date, language),
        values: [accepted, rejected, pending + signing + transmitted],
      }))}
    />
  );
}
