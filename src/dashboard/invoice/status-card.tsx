import { INVOICE_STATUSES, isFinal } from '../../domain/invoice/lifecycle.ts';
import { useLanguage } from '../interface/language.tsx';
import { formatMoment } from '../text/dates.ts';
import type { Invoice } from './documents.ts';
import type { InvoiceView } from './follow-invoice.ts';
import { useDocumentTexts } from './use-document-texts.ts';

const STEPS = INVOICE_STATUSES.filter((status) => !isFinal(status));

/** The reader of the page: the customer of the invoice, or a member of the seller's tenant. */
export type Reader = 'customer' | 'seller';

interface StatusCardProps {
  readonly invoice: Invoice;
  readonly state: InvoiceView['state'];
  readonly online: boolean;
  readonly reader: Reader;
}

/** Shows the current status, its meaning, the steps with their times, and whether the connection is lost. */
export function StatusCard({ invoice, state, online, reader }: StatusCardProps) {
  const { texts } = useDocumentTexts(invoice.id);
  const inTest = invoice.environment === 'test' ? texts.testStatuses[invoice.status] : undefined;
  const toSeller = reader === 'seller' ? texts.sellerStatuses[invoice.status] : undefined;
  const { headline, meaning } = toSeller ?? inTest ?? texts.statuses[invoice.status];
  return (
    <section class="card status" data-status={invoice.status} aria-labelledby="status">
      <div role="status">
        <h2 id="status">
          <span class="seal" aria-hidden="true" />
          {headline}
        </h2>
        <p>{meaning}</p>
      </div>
      {invoice.status === 'rejected' && <Reason invoice={invoice} />}
      <Steps invoice={invoice} />
      <Connection state={state} online={online} />
    </section>
  );
}

/** Shows the authority's findings, otherwise the service's own reason. Both are in French. */
function Reason({ invoice }: { invoice: Invoice }) {
  const { texts } = useLanguage();
  const found = invoice.problems.map(({ message }) => message);
  const reasons = found.length > 0 ? found : [invoice.rejectionReason].filter((each) => each !== null);
  return (
    <div class="reason">
      <h3>{texts.reason}</h3>
      {reasons.map((reason) => (
        <p lang="fr" dir="ltr" key={reason}>
          {reason}
        </p>
      ))}
    </div>
  );
}

function Steps({ invoice: { id, status, timeline } }: { invoice: Invoice }) {
  const { language, texts } = useDocumentTexts(id);
  const ended = isFinal(status);
  const at = new Map(timeline.map((entry) => [entry.status, entry.at]));
  const steps = [...STEPS, ended ? status : null];
  return (
    <ol class="steps" aria-label={texts.progress}>
      {steps.map((step) => {
        const time = step === null ? undefined : at.get(step);
        const name = step === null ? texts.decision : texts.stepNames[step];
        return (
          <li key={step} data-reached={time !== undefined} aria-current={step === status ? 'step' : undefined}>
            <span>{name}</span>
            {time !== undefined && (
              <time dateTime={time}>
                <bdi>{formatMoment(time, language)}</bdi>
              </time>
            )}
          </li>
        );
      })}
    </ol>
  );
}

function Connection({ state, online }: Pick<StatusCardProps, 'state' | 'online'>) {
  const { texts } = useLanguage();
  const now = !online && state !== 'final' ? 'offline' : state;
  return (
    <p class="connection" role="status" data-connection={now}>
      {(now === 'offline' || now === 'lost') && texts[now]}
    </p>
  );
}
