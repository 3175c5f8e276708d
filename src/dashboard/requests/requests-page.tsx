import type { VariablesOf } from 'gql.tada';
import { useLocation } from 'preact-iso';
import { useLanguage } from '../interface/language.tsx';
import { useTitle } from '../interface/use-title.ts';
import { listAddress, pageArguments } from '../tables/list-address.ts';
import { pageSizeOf, sizeInAddress } from '../tables/page-sizes.ts';
import { formatMoment } from '../text/dates.ts';
import { useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { FAILURES, type Failures, REQUESTS } from './documents.ts';
import { FindRequest } from './find-request.tsx';
import { RequestRows } from './request-rows.tsx';

/** `…/requests`: the requests with API keys, newest first, and counts of the failed ones by kind. */
export function RequestsPage() {
  const { texts } = useLanguage();
  const { address, tenant, environment } = useWorkspace();
  const { query } = useLocation();
  const rows = pageSizeOf(query);
  const only = onlyOf(query);
  const { data, problem, reload } = useRead(REQUESTS, {
    ...only,
    ...(only.failed && { failed: true }),
    ...pageArguments(query, rows),
  } as VariablesOf<typeof REQUESTS>);
  const failures = useRead(FAILURES, {});
  const { title, lead, none, all, failedOnly, again, graphiql } = texts.requests;
  const found = data?.apiRequests;
  useTitle(title);
  const to = (set: Readonly<Record<string, string | null>>) => listAddress(`${address}/requests`, set);
  const size = { size: sizeInAddress(rows) };
  return (
    <section class="requests" aria-busy={!found && !problem}>
      <h1 class="title">{title}</h1>
      <p class="under">{lead}</p>
      <p>
        {/* A page outside this program, which its router must leave to the browser. */}
        <a
          href={`/graphql?${new URLSearchParams({ tenant: tenant.tenantId, environment })}`}
          target="_blank"
          rel="noopener"
        >
          {graphiql}
        </a>
      </p>
      <FailureKinds kinds={failures.data?.apiRequestFailures ?? []} chosen={only.kind ?? null} to={to} />
      <div class="filters">
        <nav aria-label={title}>
          <a href={to(size)} aria-current={Object.keys(only).length === 0 ? 'true' : undefined}>
            {all}
          </a>
          <a href={to({ ...size, failed: 'true' })} aria-current={only.failed ? 'true' : undefined}>
            {failedOnly}
          </a>
        </nav>
        <FindRequest to={(found) => to({ ...size, ...found })} />
        <button
          type="button"
          class="secondary"
          onClick={() => {
            reload();
            failures.reload();
          }}
        >
          {again}
        </button>
      </div>
      <RequestRows
        list={{ page: found ?? null, problem, reload, size: rows, to: (place) => to({ ...only, ...place }) }}
        empty={none}
      />
    </section>
  );
}

/** The filters of the log, of which an address has one. */
const FILTERS = ['kind', 'apiKeyId', 'route', 'failed'] as const;

function onlyOf(query: Readonly<Record<string, string>>): Partial<Record<(typeof FILTERS)[number], string>> {
  const name = FILTERS.find((each) => query[each]);
  const value = name && query[name];
  return name && value && (name !== 'failed' || value === 'true') ? { [name]: value } : {};
}

interface FailureKindsProps {
  readonly kinds: readonly Failures[];
  readonly chosen: string | null;
  readonly to: (set: Readonly<Record<string, string>>) => string;
}

/** Shows the kinds of failed requests, each with a link to its requests. */
function FailureKinds({ kinds, chosen, to }: FailureKindsProps) {
  const { texts, language } = useLanguage();
  if (kinds.length === 0) return null;
  return (
    <section class="part">
      <h2>{texts.requests.byError}</h2>
      <ul class="log">
        {kinds.map(({ kind, method, route, status, code, count, lastAt }) => (
          <li key={kind}>
            <span class="badge" data-status="rejected">
              {status}
            </span>
            <a href={to({ kind })} aria-current={kind === chosen ? 'true' : undefined}>
              <code dir="ltr">
                {method} {route} {code}
              </code>
            </a>
            <span>{texts.requests.times(count)}</span>
            <time dateTime={lastAt}>{formatMoment(lastAt, language)}</time>
          </li>
        ))}
      </ul>
    </section>
  );
}
