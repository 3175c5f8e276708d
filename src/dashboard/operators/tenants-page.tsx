import type { TargetedSubmitEvent } from 'preact';
import { useLocation } from 'preact-iso';
import { OPERATOR_TEXTS } from '../../domain/limits.ts';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { useTitle } from '../interface/use-title.ts';
import { formatDate } from '../text/dates.ts';
import { type ListedTenant, useOperatorChange, useOperatorRead } from './operator-api.ts';

/** `/ops/tenants`: the companies that issue invoices, newest first. */
export function TenantsPage() {
  const { texts, language } = useLanguage();
  const { operators } = texts;
  const { query, route } = useLocation();
  const { after } = query;
  const { data, refusal } = useOperatorRead<{ tenants: readonly ListedTenant[]; hasMore: boolean }>(
    `tenants${after ? `?after=${encodeURIComponent(after)}` : ''}`,
  );
  const change = useOperatorChange();
  useTitle(operators.tenants);

  async function create(event: TargetedSubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get('name')).trim();
    const made = await change.run<{ id: string }>('tenants', { name });
    if (made) route(`/ops/tenants/${made.id}`);
  }
  const last = data?.tenants.at(-1);
  return (
    <section aria-busy={!data && !refusal}>
      <h1 class="title">{operators.tenants}</h1>
      <Refusal why={change.refusal ?? refusal} />
      <form class="inline" onSubmit={create}>
        <div class="field">
          <label for="name">{operators.tenantName}</label>
          <input
            id="name"
            name="name"
            type="text"
            dir="auto"
            required
            maxLength={OPERATOR_TEXTS.tenantName}
            autocomplete="off"
          />
        </div>
        <button type="submit" class="secondary" aria-disabled={change.busy}>
          {operators.createTenant}
        </button>
      </form>
      <ul class="log">
        {data?.tenants.map(({ id, name, createdAt, suspendedAt, environments }) => (
          <li key={id}>
            <a href={`/ops/tenants/${id}`}>
              <strong>
                <bdi>{name}</bdi>
              </strong>
            </a>
            <code dir="ltr">{id}</code>
            <span>
              {texts.keys.createdOn} <time dateTime={createdAt}>{formatDate(createdAt, language)}</time>
            </span>
            {environments.map((environment) => (
              <span class="badge" data-environment={environment} key={environment}>
                {texts.workspace[environment]}
              </span>
            ))}
            {suspendedAt && <span class="badge attention">{operators.suspended}</span>}
          </li>
        ))}
      </ul>
      {(after || data?.hasMore) && (
        <nav class="pages" aria-label={texts.invoices.pages}>
          {after && <a href="/ops/tenants">{texts.invoices.newer}</a>}
          {data?.hasMore && last && <a href={`/ops/tenants?after=${last.id}`}>{texts.invoices.older}</a>}
        </nav>
      )}
    </section>
  );
}
