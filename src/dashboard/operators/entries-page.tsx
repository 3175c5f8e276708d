import { useLocation } from 'preact-iso';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { useTitle } from '../interface/use-title.ts';
import { AUDIT_ACTIONS } from '../text/audit-actions.ts';
import { formatMoment } from '../text/dates.ts';
import { type Entry, useOperatorRead } from './operator-api.ts';

/**
 * `/ops/entries`: the operators' changes of the whole service. Their changes for a tenant are in that tenant's audit
 * log.
 */
export function EntriesPage() {
  const { texts, language } = useLanguage();
  const { operators, audit } = texts;
  const { after } = useLocation().query;
  const { data, refusal } = useOperatorRead<{ entries: readonly Entry[]; hasMore: boolean }>(
    `entries${after ? `?after=${encodeURIComponent(after)}` : ''}`,
  );
  useTitle(operators.entries);
  const last = data?.entries.at(-1);
  return (
    <section aria-busy={!data && !refusal}>
      <h1 class="title">{operators.entries}</h1>
      <p class="under">{operators.entriesLead}</p>
      <Refusal why={refusal} />
      {data?.entries.length === 0 && <p class="empty">{audit.none}</p>}
      <ul class="log">
        {data?.entries.map(({ id, at, action, actor, details, origin }) => (
          <li key={id}>
            <strong>
              {AUDIT_ACTIONS[action.replace('.', '_') as keyof typeof AUDIT_ACTIONS]?.[language] ?? action}
            </strong>
            <bdi>{actor.name ?? audit.actors.operator}</bdi>
            <time dateTime={at}>{formatMoment(at, language)}</time>
            {details.reason && <bdi>{details.reason}</bdi>}
            {origin && <code dir="ltr">{origin.address}</code>}
          </li>
        ))}
      </ul>
      {(after || data?.hasMore) && (
        <nav class="pages" aria-label={texts.invoices.pages}>
          {after && <a href="/ops/entries">{texts.invoices.newer}</a>}
          {data?.hasMore && last && <a href={`/ops/entries?after=${last.id}`}>{texts.invoices.older}</a>}
        </nav>
      )}
    </section>
  );
}
