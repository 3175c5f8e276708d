import { useRef } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import { hasScope } from '../../domain/scopes.ts';
import { keyOfKept } from '../interface/kept.ts';
import { keepTyped, useKeptTyped } from '../interface/kept-typed.ts';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { useTitle } from '../interface/use-title.ts';
import { CREDITING_TEXTS } from '../text/crediting.ts';
import { formatMoney } from '../text/money.ts';
import { Missing } from '../workspace/missing.tsx';
import { useRequestKey } from '../workspace/request-key.ts';
import { Unread } from '../workspace/unread.tsx';
import { useChange } from '../workspace/use-change.ts';
import { useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { ReasonFields, WayFields } from './credit-fields.tsx';
import { CREDIT_INVOICE, CREDITABLE, type Creditable, type Fault } from './documents.ts';
import { PreviewTable } from './preview-table.tsx';
import { creditOf, type TypedCredit } from './typed-credit.ts';
import { usePreview } from './use-preview.ts';

const NOTHING_TYPED: TypedCredit = { way: 'rest', quantities: new Map(), nets: new Map(), reason: '', note: '' };

const NO_FAULTS: ReadonlyMap<string, Fault> = new Map();

/** `…/invoices/<id>/credit`: credits an accepted invoice. */
export function CreditPage() {
  const { tenant, environment } = useWorkspace();
  return hasScope(tenant.role, 'issue', environment) ? <CreditedInvoice /> : <Missing />;
}

function CreditedInvoice() {
  const { id = '' } = useRoute().params;
  const { texts, language } = useLanguage();
  const { address } = useWorkspace();
  const { data, problem, reload } = useRead(CREDITABLE, { id });
  const { pageTitle, lead, credited, fully } = CREDITING_TEXTS[language];
  const number = data?.invoice.number;
  useTitle(number ? `${pageTitle} ${number}` : pageTitle);
  if (!data) return <Unread title={pageTitle} problem={problem} failed={texts.invoices.failed} onRetry={reload} />;
  const { status, amount, creditedAmount, customer } = data.invoice;
  if (status !== 'accepted') return <Missing />;
  const money = (centimes: number) => formatMoney(centimes, language);
  return (
    <section class="creation crediting">
      <h1 class="title">
        {pageTitle}{' '}
        <a href={`${address}/invoices/${id}`}>
          <bdi>{number}</bdi>
        </a>
      </h1>
      <p class="under">
        <bdi>{customer.name}</bdi> · {credited(money(creditedAmount ?? 0), money(amount))}
      </p>
      <p class="under">{data.left.amount === null ? fully : lead}</p>
      {data.left.amount !== null && <CreditForm id={id} creditable={data} key={id} />}
    </section>
  );
}

function CreditForm({ id, creditable }: { id: string; creditable: Creditable }) {
  const { language } = useLanguage();
  const { address, personId } = useWorkspace();
  const { route } = useLocation();
  const keptAs = keyOfKept('typed', personId, location.pathname);
  const [typed, setTyped] = useKeptTyped(keptAs, () => NOTHING_TYPED);
  // Independent of the input: however often this form is sent, and with whatever changes, it creates one credit note.
  const key = useRequestKey({ id });
  const creation = useChange(CREDIT_INVOICE);
  const drawn = creditOf(typed);
  const { input } = drawn;
  const wasRefused = useRef(false);
  const { previewed, isCurrent, askAgain } = usePreview(id, drawn, ({ faults }) => {
    const [first] = faults.keys();
    if (wasRefused.current && first !== undefined) document.getElementById(first)?.focus();
    wasRefused.current = false;
  });

  async function issue(): Promise<void> {
    const made = await creation.run({ id, input, key });
    if (made) {
      keepTyped(keptAs, null);
      return route(`${address}/invoices/${made.creditNote.id}`);
    }
    // The fields say what is wrong now: somebody else may have credited the invoice meanwhile.
    wasRefused.current = true;
    askAgain();
  }
  const props = { creditable, typed, onTyped: setTyped, faults: previewed?.faults ?? NO_FAULTS };
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault();
        void issue();
      }}
    >
      <WayFields {...props} />
      <ReasonFields {...props} />
      <PreviewTable previewed={previewed} isCurrent={isCurrent} isEmpty={isEmpty(input)} />
      <Refusal why={props.faults.size > 0 ? null : creation.refusal} />
      <button type="submit" class="primary" aria-disabled={creation.busy}>
        {CREDITING_TEXTS[language].submit}
      </button>
    </form>
  );
}

/** Whether nothing is credited yet: no line or no amount is filled in. */
function isEmpty({ lines, amounts }: ReturnType<typeof creditOf>['input']): boolean {
  return (lines ?? amounts)?.length === 0;
}
