import { useEffect, useRef, useState } from 'preact/hooks';
import type { DELIVERY_STATES } from '../../domain/webhook/delivery.ts';
import { useLanguage } from '../interface/language.tsx';
import { useEvery } from '../interface/use-every.ts';
import { useFragment } from '../interface/use-fragment.ts';
import { useTitle } from '../interface/use-title.ts';
import { formatMoment } from '../text/dates.ts';
import { EmbeddedFrame } from './embedded-frame.tsx';

/** Interval at which the page reads again, milliseconds. */
const EVERY_MS = 10_000;

interface Delivery {
  readonly id: string;
  readonly eventType: string;
  readonly state: (typeof DELIVERY_STATES)[number];
  readonly createdAt: string;
  readonly nextAttemptAt: string | null;
  readonly attempts: readonly {
    readonly at: string;
    readonly status: number | null;
    readonly latencyMs: number;
    readonly failure: string | null;
  }[];
}

interface Log {
  readonly deliveries: readonly Delivery[];
  readonly hasMore: boolean;
}

/** `/embed/deliveries/<frame>#<token>`: the deliveries to an endpoint within a page of another product. */
export function EmbeddedLog() {
  const { texts, language } = useLanguage();
  const token = useFragment();
  const [after, setAfter] = useState<string | null>(null);
  const { log, problem } = useLog(token, after);
  const { deliveries: title, deliveryStates, retryAt, pages, newer, older } = texts.invoices;
  const last = log?.deliveries.at(-1);
  useTitle(title);
  return (
    <EmbeddedFrame busy={!log && !problem}>
      <h1 class="title">{title}</h1>
      <p class="refusal" role="alert">
        {problem === 'expired' ? texts.embedding.expired : problem && texts.account.refusals.unreachable}
      </p>
      {log?.deliveries.length === 0 && <p class="empty">{texts.embedding.none}</p>}
      {log?.deliveries.map(({ id, eventType, state, createdAt, nextAttemptAt, attempts }) => (
        <details class="delivery" key={id}>
          <summary>
            <strong dir="ltr">{eventType}</strong>
            <span class="badge" data-state={state}>
              {deliveryStates[state]}
            </span>
            <time dateTime={createdAt}>{formatMoment(createdAt, language)}</time>
          </summary>
          <ul class="log">
            {attempts.map(({ at, status, latencyMs, failure }) => (
              <li key={at}>
                <strong dir="ltr">{status ?? failure}</strong>
                <time dateTime={at}>{formatMoment(at, language)}</time>
                <span dir="ltr">{Math.round(latencyMs)} ms</span>
              </li>
            ))}
          </ul>
          {nextAttemptAt && (
            <p>
              {retryAt} <time dateTime={nextAttemptAt}>{formatMoment(nextAttemptAt, language)}</time>
            </p>
          )}
        </details>
      ))}
      {(after !== null || log?.hasMore) && (
        <nav class="pages" aria-label={pages}>
          {after !== null && (
            <button type="button" class="quiet" onClick={() => setAfter(null)}>
              {newer}
            </button>
          )}
          {log?.hasMore && last && (
            <button type="button" class="quiet" onClick={() => setAfter(last.id)}>
              {older}
            </button>
          )}
        </nav>
      )}
    </EmbeddedFrame>
  );
}

/** Reads the log now and every ten seconds, until the token has ended. */
function useLog(token: string, after: string | null) {
  const [log, setLog] = useState<Log | null>(null);
  const [problem, setProblem] = useState<'expired' | 'unreachable' | null>(null);
  /** Ends what is read with this token, after this delivery. */
  const latest = useRef<AbortSignal | null>(null);
  async function read(signal: AbortSignal | null): Promise<void> {
    try {
      const answer = await fetch(`/embed/api/deliveries${after ? `?after=${encodeURIComponent(after)}` : ''}`, {
        headers: { Authorization: `Bearer ${token}` },
        signal,
      });
      if (answer.status === 401) return setProblem('expired');
      if (!answer.ok) throw new Error(String(answer.status));
      setLog(await answer.json());
      setProblem(null);
    } catch {
      if (!signal?.aborted) setProblem('unreachable');
    }
  }
  useEffect(() => {
    const ended = new AbortController();
    latest.current = ended.signal;
    void read(ended.signal);
    return () => ended.abort();
  }, [token, after]);
  useEvery(problem === 'expired' ? null : EVERY_MS, () => void read(latest.current));
  return { log, problem };
}
