import { hasScope } from '../../domain/scopes.ts';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { useEvery } from '../interface/use-every.ts';
import { useDocumentTexts } from '../invoice/use-document-texts.ts';
import { formatMoment } from '../text/dates.ts';
import { useChange } from '../workspace/use-change.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { type Delivery, RESEND_EVENT } from './documents.ts';
import { eventName } from './event-names.ts';

interface DeliveryRowProps {
  readonly delivery: Delivery;
  readonly onResent: () => void;
  /** Whether the attempts are shown from the start. */
  readonly isOpen?: boolean;
}

/** Interval of reading while an attempt is under way, milliseconds. */
const OUTCOME_MS = 3000;

/** Reloads while an attempt of a shown delivery is due or under way, because no event reports its outcome. */
export function useOutcomes(shown: readonly Delivery[], reload: () => void): void {
  useEvery(OUTCOME_MS, () => {
    if (shown.some(isUnderWay)) reload();
  });
}

function isUnderWay({ state, nextAttemptAt }: Delivery): boolean {
  return state === 'pending' && (nextAttemptAt === null || Date.parse(nextAttemptAt) <= Date.now());
}

/** Shows one delivery and, when opened, each of its attempts. */
export function DeliveryRow({ delivery, onResent, isOpen = false }: DeliveryRowProps) {
  const { language, texts } = useLanguage();
  const { address, tenant, environment } = useWorkspace();
  const { id, eventId, eventType, invoiceId, endpointId, state, createdAt, nextAttemptAt, attempts } = delivery;
  const { invoice: document } = useDocumentTexts(invoiceId).texts;
  const { resend, own, attempt, request, answer, truncated } = texts.deliveries;
  const resending = useChange(RESEND_EVENT);
  const moment = (instant: string) => <time dateTime={instant}>{formatMoment(instant, language)}</time>;
  return (
    <details class="delivery" open={isOpen}>
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
        <a href={`${address}/invoices/${invoiceId}`}>{document}</a>
        {!isOpen && <a href={`${address}/deliveries/${id}`}>{own}</a>}
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
