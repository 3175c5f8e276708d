import { useState } from 'preact/hooks';
import { useLanguage } from '../interface/language.tsx';
import { StackedBars } from '../interface/stacked-bars.tsx';
import { formatMoment } from '../text/dates.ts';
import { formatNumber } from '../text/money.ts';
import { useRead } from '../workspace/workspace-context.ts';
import { type Endpoint, HOURS } from './documents.ts';

/** Shows an endpoint's results of the last 24 hours and, when opened, of each of the last 48. */
export function EndpointHealth({ endpoint: { id, statistics } }: { endpoint: Endpoint }) {
  const { texts, language } = useLanguage();
  const [isOpen, setOpen] = useState(false);
  const { none, rate, latency, retried, details } = texts.health;
  const { first, retries, medianMs, p95Ms } = statistics;
  const number = (n: number) => formatNumber(n, language);
  const all = first.delivered + first.failed + retries.delivered + retries.failed;
  if (all === 0) return <p class="under">{none}</p>;
  // Rounded down, so that 100 means that nothing failed.
  const percent = Math.floor((100 * (first.delivered + retries.delivered)) / all);
  return (
    <>
      <p class="under">
        {rate(number(percent), number(all))}
        {retries.delivered + retries.failed > 0 && ` ${retried(number(retries.delivered + retries.failed))}`}
        {medianMs !== null && p95Ms !== null && ` ${latency(number(medianMs), number(p95Ms))}`}
      </p>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>{details}</summary>
        {isOpen && <HourlyResults endpointId={id} />}
      </details>
    </>
  );
}

function HourlyResults({ endpointId }: { endpointId: string }) {
  const { texts, language } = useLanguage();
  const { data } = useRead(HOURS, { id: endpointId });
  const { details, hour, delivered, afterRetry, failed } = texts.health;
  if (!data) return null;
  return (
    <StackedBars
      caption={details}
      column={hour}
      kinds={[
        { kind: 'accepted', name: delivered },
        { kind: 'open', name: afterRetry },
        { kind: 'rejected', name: failed },
      ]}
      bars={data.webhookEndpoint.statistics.hours.map(({ at, first, retries }) => ({
        name: formatMoment(at, language),
        values: [first.delivered, retries.delivered, first.failed + retries.failed],
      }))}
    />
  );
}
