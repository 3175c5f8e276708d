import { useLocation } from 'preact-iso';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { useTitle } from '../interface/use-title.ts';
import { formatMoment } from '../text/dates.ts';
import { PageLinks } from '../workspace/page-links.tsx';
import { mayChange } from '../workspace/permissions.ts';
import { useChange } from '../workspace/use-change.ts';
import { useLive, useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { DELIVERIES, type Delivery, RESEND_EVENT } from './documents.ts';
import { eventName } from './event-names.ts';
import { ReplayForm } from './replay-form.tsx';

const STATES = ['pending', 'delivered', 'failed', 'cancelled'] as const satisfies readonly Delivery['state'][];
const PAGE = 25;

/** `…/deliveries`: what was sent to the endpoints, newest event first, with each request and answer. */
export function DeliveriesPage() {
  const { texts } = useLanguage();
  const { address, tenant, environment } = useWorkspace();
  const { query } = useLocation();
  const state = STATES.find((each) => each === query.state) ?? null;
  const { after, before } = query;
  const { data, problem, reload } = useRead(DELIVERIES, {
    ...(state && { state }),
    ...(before && !after ? { last: PAGE, before } : { first: PAGE, ...(after && { after }) }),
  });
  const { title, none, allStates } = texts.deliveries;
  const found = data?.webhookDeliveries;
  useTitle(title);
  useLive(() => !after && !before, reload);
  const to = (query: Readonly<Record<string, string | null>>) => {
    const set = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== null);
    return `${address}/deliveries${set.length === 0 ? '' : `?${new URLSearchParams(set)}`}`;
  };
  return (
    <section aria-busy={!found && !problem}>
      <h1 class="title">{title}</h1>
      <div class="filters">
        <nav aria-label={texts.invoices.filters}>
          {[null, ...STATES].map((each) => (
            <a key={each} href={to({ state: each })} aria-current={each === state ? 'true' : undefined}>
              {each === null ? allStates : texts.invoices.deliveryStates[each]}
            </a>
          ))}
        </nav>
      </div>
      {mayChange('endpoints', tenant.role, environment) && <ReplayForm onReplayed={reload} />}
      <Refusal text={problem && 'unreachable'} />
      {found?.nodes.length === 0 && <p class="empty">{none}</p>}
      {found?.nodes.map((delivery) => (
        <DeliveryRow delivery={delivery} key={delivery.id} onResent={reload} />
      ))}
      {found && <PageLinks pageInfo={found.pageInfo} to={(cursor) => to({ state, ...cursor })} />}
    </section>
  );
}

function DeliveryRow({ delivery, onResent }: { delivery: Delivery; onResent: () => void }) {
  const { language, texts } = useLanguage();
  const { address, tenant, environment } = useWorkspace();
  const { eventId, eventType, invoiceId, endpointId, state, createdAt, nextAttemptAt, attempts } = delivery;
  const { resend, invoice, attempt, request, answer, truncated } = texts.deliveries;
  const resending = useChange(RESEND_EVENT);
  const moment = (instant: string) => <time dateTime={instant}>{formatMoment(instant, language)}</time>;
  return (
    <details class="delivery">
      <summary>
        <code dir="ltr">{eventName(eventType)}</code>
        <span class="badge" data-state={state}>
          {texts.invoices.deliveryStates[state]}
        </span>
        {moment(createdAt)}
        {nextAttemptAt && (
          <span>
            {texts.invoices.retryAt} {moment(nextAttemptAt)}
          </span>
        )}
      </summary>
      <p class="row-actions">
        <a href={`${address}/invoices/${invoiceId}`}>{invoice}</a>
        {mayChange('endpoints', tenant.role, environment) && (
          <button
            type="button"
            class="quiet"
            aria-disabled={resending.busy}
            onClick={() => void resending.run({ eventId, endpointId }).then(onResent)}
          >
            {resend}
          </button>
        )}
      </p>
      <Refusal text={resending.refusal} />
      {attempts.map((each, i) => (
        <section key={each.at}>
          <h3>
            {attempt} {i + 1} · {moment(each.at)} ·{' '}
            <bdi dir="ltr">
              {each.status ?? each.errorMessage} · {Math.round(each.latencyMs)} ms
            </bdi>
          </h3>
          <Exchange title={request} text={`POST ${each.url}\n${headersOf(each.requestHeaders)}`} />
          {each.status !== null && (
            <Exchange
              title={each.responseTruncated ? `${answer} (${truncated})` : answer}
              text={`${headersOf(each.responseHeaders)}\n\n${each.responseBody}`}
            />
          )}
        </section>
      ))}
    </details>
  );
}

function Exchange({ title, text }: { title: string; text: string }) {
  return (
    <>
      <h4>{title}</h4>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reached by the keyboard */}
      <pre dir="ltr" lang="en" tabIndex={0}>
        {text}
      </pre>
    </>
  );
}

function headersOf(headers: readonly { readonly name: string; readonly value: string }[]): string {
  return headers.map(({ name, value }) => `${name}: ${value}`).join('\n');
}
