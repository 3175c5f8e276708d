import { hasScope } from '../../domain/scopes.ts';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { formatMoment } from '../text/dates.ts';
import { TABLE_TEXTS } from '../text/tables.ts';
import { useChange } from '../workspace/use-change.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { DocumentName, EndpointName } from './delivery-rows.tsx';
import { type Delivery, RESEND_EVENT } from './documents.ts';
import { eventName } from './event-names.ts';

/** Shows a delivery with each of its attempts. */
export function DeliveryDetails({ delivery, onResent }: { delivery: Delivery; onResent: () => void }) {
  const { language, texts } = useLanguage();
  const { address, tenant, environment } = useWorkspace();
  const { eventId, eventType, invoiceId, endpointId, state, createdAt, nextAttemptAt, attempts } = delivery;
  const { resend, attempt, request, answer, truncated } = texts.deliveries;
  const own = TABLE_TEXTS[language];
  const resending = useChange(RESEND_EVENT);
  const moment = (instant: string) => <time dateTime={instant}>{formatMoment(instant, language)}</time>;
  return (
    <article class="delivery">
      <p class="row-actions">
        <code dir="ltr">{eventName(eventType)}</code>
        <span class="badge" data-state={state}>
          {texts.invoices.deliveryStates[state]}
        </span>
        {hasScope(tenant.role, 'operate', environment) && (
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
      <Refusal why={resending.refusal} />
      <dl class="facts">
        <div>
          <dt>{own.invoice}</dt>
          <dd>
            <a href={`${address}/invoices/${invoiceId}`}>
              <DocumentName delivery={delivery} />
            </a>
          </dd>
        </div>
        <div>
          <dt>{own.endpoint}</dt>
          <dd>
            <EndpointName endpoint={delivery.endpoint} />
          </dd>
        </div>
        <div>
          <dt>{own.at}</dt>
          <dd>{moment(createdAt)}</dd>
        </div>
        {nextAttemptAt && (
          <div>
            <dt>{own.next}</dt>
            <dd>{moment(nextAttemptAt)}</dd>
          </div>
        )}
      </dl>
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
    </article>
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
