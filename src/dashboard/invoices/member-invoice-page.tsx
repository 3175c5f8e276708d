import { useRoute } from 'preact-iso';
import { isFinal } from '../../domain/invoice/lifecycle.ts';
import { Credited } from '../crediting/credited.tsx';
import { DuplicateButton } from '../drafts/duplicate-button.tsx';
import { eventName } from '../endpoints/event-names.ts';
import { CopyButton } from '../interface/copy-button.tsx';
import { useLanguage } from '../interface/language.tsx';
import { ServiceMessage } from '../interface/refusal.tsx';
import { useTitle } from '../interface/use-title.ts';
import { InvoiceBody } from '../invoice/invoice-body.tsx';
import { InvoiceLines } from '../invoice/invoice-lines.tsx';
import { useDocumentTexts } from '../invoice/use-document-texts.ts';
import { useOnline } from '../invoice/use-online.ts';
import { Replaced } from '../replacing/replaced.tsx';
import { formatMoment } from '../text/dates.ts';
import { TABLE_TEXTS } from '../text/tables.ts';
import { Unread } from '../workspace/unread.tsx';
import { useLive, useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { DocumentViewer } from './document-viewer.tsx';
import { MEMBER_DOCUMENT, type MemberDocument } from './documents.ts';

/** `…/invoices/<id>`: an invoice or a credit note for the people of its tenant. */
export function MemberInvoicePage() {
  const { id = '' } = useRoute().params;
  const { texts, language } = useDocumentTexts(id);
  const { data, problem, reload } = useRead(MEMBER_DOCUMENT, { id });
  const online = useOnline();
  const { address } = useWorkspace();
  const invoice = data?.document && 'amount' in data.document ? data.document : null;
  useTitle(invoice?.number ? `${texts.invoice} ${invoice.number}` : texts.invoice);
  useLive((invoiceId) => invoiceId === id, reload);
  if (!invoice) {
    const why = data ? 'refused' : problem;
    return <Unread title={texts.invoice} problem={why} failed={texts.invoices.failed} onRetry={reload} />;
  }
  const state = isFinal(invoice.status) ? 'final' : problem ? 'lost' : 'live';
  return (
    <>
      <p class="row-actions send">
        {'terms' in invoice && <DuplicateButton invoiceId={id} />}
        {invoice.customerUrl && <CopyButton text={invoice.customerUrl} name={TABLE_TEXTS[language].customerLink} />}
      </p>
      {invoice.attention && (
        <p class="refusal" role="status">
          <strong>{texts.invoices.attention}</strong>{' '}
          <ServiceMessage
            own={language === 'en' ? null : `${texts.operators.reasons[invoice.attention.reason]}.`}
            message={invoice.attention.message}
          />
        </p>
      )}
      <InvoiceBody
        invoice={invoice}
        state={state}
        online={online}
        reader="seller"
        addressOf={(invoiceId) => `${address}/invoices/${invoiceId}`}
      />
      {invoice.status === 'accepted' && 'terms' in invoice && <Credited invoice={invoice} key={invoice.id} />}
      {isFinal(invoice.status) && 'terms' in invoice && <Replaced id={invoice.id} key={`replaced ${invoice.id}`} />}
      {invoice.documents && <DocumentViewer url={invoice.documents.pdf.url} />}
      <InvoiceLines lines={invoice.lines} />
      <Messages invoice={invoice} />
      <Attempts invoice={invoice} />
    </>
  );
}

/** Shows the mail to the customer and the deliveries to webhooks. */
function Messages({ invoice: { id: documentId, email, deliveries } }: { invoice: MemberDocument }) {
  const { language, texts } = useDocumentTexts(documentId);
  const { address } = useWorkspace();
  const { mail, noMail, deliveries: title, noDeliveries, mailStatuses, deliveryStates, retryAt } = texts.invoices;
  return (
    <section class="card part" aria-labelledby="deliveries">
      <h2>{mail}</h2>
      {email ? (
        <ul class="log">
          <li>
            <bdi dir="ltr">{email.to}</bdi>
            <span class="badge" data-state={email.status}>
              {mailStatuses[email.status]}
            </span>
            {email.sentAt && <time dateTime={email.sentAt}>{formatMoment(email.sentAt, language)}</time>}
            {email.lastError && (
              <span lang="en" dir="ltr">
                {email.lastError}
              </span>
            )}
          </li>
        </ul>
      ) : (
        <p class="under">{noMail}</p>
      )}
      <h2 id="deliveries">{title}</h2>
      {deliveries.length === 0 && <p class="under">{noDeliveries}</p>}
      <ul class="log">
        {deliveries.map(({ id, eventType, state, endpoint, nextAttemptAt, attempts }) => {
          const last = attempts.at(-1);
          return (
            <li key={id}>
              <code dir="ltr">{eventName(eventType)}</code>
              <bdi dir="ltr">{endpoint?.url ?? '—'}</bdi>
              <a href={`${address}/deliveries/${id}`}>
                <span class="badge" data-state={state}>
                  {deliveryStates[state]}
                </span>
              </a>
              {last && (
                <span dir="ltr">
                  {last.status ?? last.errorMessage} · {last.latencyMs} ms
                </span>
              )}
              {nextAttemptAt && (
                <span>
                  {retryAt} <time dateTime={nextAttemptAt}>{formatMoment(nextAttemptAt, language)}</time>
                </span>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** Shows the calls to the authority. */
function Attempts({ invoice: { authorityAttempts } }: { invoice: MemberDocument }) {
  const { language, texts } = useLanguage();
  if (authorityAttempts.length === 0) return null;
  return (
    <section class="card part" aria-labelledby="attempts">
      <h2 id="attempts">{texts.invoices.attempts}</h2>
      <ul class="log">
        {authorityAttempts.map(({ at, purpose, outcome, milliseconds, message }) => (
          <li key={at}>
            <time dateTime={at}>{formatMoment(at, language)}</time>
            <code dir="ltr">
              {purpose} → {outcome}
            </code>
            <span dir="ltr">{milliseconds} ms</span>
            {message && (
              <span lang="fr" dir="auto">
                {message}
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
