import { useLocation } from 'preact-iso';
import { CopyButton } from '../interface/copy-button.tsx';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { useTitle } from '../interface/use-title.ts';
import { formatMoment } from '../text/dates.ts';
import { formatNumber } from '../text/money.ts';
import { PageLinks } from '../workspace/page-links.tsx';
import { useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { type ApiRequest, FAILURES, type Failures, REQUESTS } from './documents.ts';

const PAGE = 25;

/** `…/requests`: the requests with API keys, newest first, and counts of the failed ones by kind. */
export function RequestsPage() {
  const { texts } = useLanguage();
  const { address, tenant, environment } = useWorkspace();
  const { query } = useLocation();
  const { after, before, kind } = query;
  const failed = query.failed === 'true' && !kind;
  const { data, problem, reload } = useRead(REQUESTS, {
    ...(failed && { failed }),
    ...(kind && { kind }),
    ...(before && !after ? { last: PAGE, before } : { first: PAGE, ...(after && { after }) }),
  });
  const failures = useRead(FAILURES, {});
  const { title, lead, none, all, failedOnly, again, graphiql } = texts.requests;
  const found = data?.apiRequests;
  useTitle(title);
  const to = (set: Readonly<Record<string, string | null>>) => {
    const given = Object.entries(set).filter((entry): entry is [string, string] => entry[1] !== null);
    return `${address}/requests${given.length === 0 ? '' : `?${new URLSearchParams(given)}`}`;
  };
  const limits = kind ? { kind } : failed ? { failed: 'true' } : {};
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
      <FailureKinds kinds={failures.data?.apiRequestFailures ?? []} chosen={kind ?? null} to={to} />
      <div class="filters">
        <nav aria-label={title}>
          <a href={to({})} aria-current={!failed && !kind ? 'true' : undefined}>
            {all}
          </a>
          <a href={to({ failed: 'true' })} aria-current={failed ? 'true' : undefined}>
            {failedOnly}
          </a>
        </nav>
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
      <Refusal why={problem && 'unreachable'} />
      {found?.nodes.length === 0 && <p class="empty">{none}</p>}
      {found?.nodes.map((request) => (
        <RequestRow request={request} key={request.id} />
      ))}
      {found && <PageLinks pageInfo={found.pageInfo} to={(cursor) => to({ ...limits, ...cursor })} />}
    </section>
  );
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

function RequestRow({ request }: { request: ApiRequest }) {
  const { texts, language } = useLanguage();
  const { id, at, method, route, operation, status, milliseconds, code, param, apiKeyId, standsFor } = request;
  const { requestId, key, error, likeIt } = texts.requests;
  return (
    <details class="delivery">
      <summary>
        <span class="badge" data-status={code === null ? 'accepted' : 'rejected'}>
          {status}
        </span>
        <code dir="ltr">
          {method} {route} {operation}
        </code>
        <time dateTime={at}>{formatMoment(at, language)}</time>
        <bdi>{formatNumber(milliseconds, language)} ms</bdi>
      </summary>
      <dl class="facts">
        <div>
          <dt>{requestId}</dt>
          <dd>
            <code dir="ltr">{id}</code> <CopyButton text={id} />
          </dd>
        </div>
        <div>
          <dt>{key}</dt>
          <dd>
            <code dir="ltr">{apiKeyId}</code>
          </dd>
        </div>
        {code !== null && (
          <div>
            <dt>{error}</dt>
            <dd>
              <code dir="ltr">
                {code} {param}
              </code>
            </dd>
          </div>
        )}
      </dl>
      {standsFor > 1 && <p class="under">{likeIt(standsFor)}</p>}
    </details>
  );
}
