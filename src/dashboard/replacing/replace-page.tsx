import { useLocation, useRoute } from 'preact-iso';
import { hasScope } from '../../domain/scopes.ts';
import type { InvoiceInput } from '../creation/documents.ts';
import { drawnUp, type TypedInvoice, typedCustomerOf } from '../creation/drawn-up.ts';
import { ProblemList } from '../creation/faults.tsx';
import { Field } from '../creation/field.tsx';
import { FormTotals, shownTotals } from '../creation/form-totals.tsx';
import { InvoiceFields } from '../creation/invoice-fields.tsx';
import { typedDetailsOf } from '../creation/typed-details.ts';
import { typedAdjustmentOf } from '../creation/typed-discount.ts';
import { EMPTY_LINE, typedLineOf } from '../creation/typed-line.ts';
import { changedTerms, NO_TERMS, typedTermsOf } from '../creation/typed-terms.ts';
import { useDeposits } from '../creation/use-deposits.ts';
import { keyOfKept } from '../interface/kept.ts';
import { keepTyped, useKeptTyped } from '../interface/kept-typed.ts';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { useTitle } from '../interface/use-title.ts';
import { CREDITING_TEXTS } from '../text/crediting.ts';
import { REPLACING_TEXTS } from '../text/replacing.ts';
import { Missing } from '../workspace/missing.tsx';
import { useRequestKey } from '../workspace/request-key.ts';
import { Unread } from '../workspace/unread.tsx';
import { useChange } from '../workspace/use-change.ts';
import { useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { REPLACE_INVOICE, REPLACEABLE, type Replaceable } from './documents.ts';
import { Rejection, useFindings } from './findings.tsx';

/** `…/invoices/<id>/replace`: corrects an accepted or rejected invoice and issues it again. */
export function ReplacePage() {
  const { tenant, environment } = useWorkspace();
  return hasScope(tenant.role, 'issue', environment) ? <ReplacedInvoice /> : <Missing />;
}

function ReplacedInvoice() {
  const { id = '' } = useRoute().params;
  const { texts, language } = useLanguage();
  const { address } = useWorkspace();
  const { data, problem, reload } = useRead(REPLACEABLE, { id });
  const { pageTitle, lead } = REPLACING_TEXTS[language];
  const number = data?.invoice.number;
  useTitle(number ? `${pageTitle} ${number}` : pageTitle);
  if (!data) return <Unread title={pageTitle} problem={problem} failed={texts.invoices.failed} onRetry={reload} />;
  const { invoice } = data;
  const { status } = invoice;
  if ((status !== 'accepted' && status !== 'rejected') || invoice.replacedBy) return <Missing />;
  return (
    <section class="creation">
      <h1 class="title">
        {pageTitle}{' '}
        <a href={`${address}/invoices/${id}`}>
          <bdi>{number ?? id}</bdi>
        </a>
      </h1>
      <p class="under">{lead[status]}</p>
      <ReplaceForm id={id} invoice={invoice} key={id} />
    </section>
  );
}

function ReplaceForm({ id, invoice }: { readonly id: string; readonly invoice: Replaceable }) {
  const { language } = useLanguage();
  const { address, personId } = useWorkspace();
  const { route } = useLocation();
  const keptAs = keyOfKept('typed', personId, location.pathname);
  const [{ typed, note }, setForm] = useKeptTyped(keptAs, () => ({ typed: typedOf(invoice), note: '' }));
  const setTyped = (changed: TypedInvoice) => setForm({ typed: changed, note });
  const setNote = (changed: string) => setForm({ typed, note: changed });
  const creation = useChange(REPLACE_INVOICE);
  const deposits = useDeposits(typed, invoice.deposits);
  const drawn = drawnUp(typed, deposits.left);
  const terms: InvoiceInput['terms'] = changedTerms(typed.terms ?? NO_TERMS, invoice.terms);
  const input = { ...drawn, metadata: invoice.metadata, terms };
  const key = useRequestKey({ id, input, note });
  const { rejection, refused, faults, onLines } = useFindings(invoice, typed, creation.refusal);

  async function issue(): Promise<void> {
    const made = await creation.run({ id, input, reason: 'error', note: note.trim() || null, key });
    if (made) {
      keepTyped(keptAs, null);
      route(`${address}/invoices/${made.invoice.id}`);
    } else deposits.readAgain();
  }

  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault();
        void issue();
      }}
    >
      {rejection && <Rejection placed={rejection} />}
      <InvoiceFields
        typed={typed}
        newLine={EMPTY_LINE}
        deposits={deposits}
        faults={faults}
        onTyped={(changed) => {
          onLines(changed.lines.length);
          setTyped(changed);
        }}
      />
      {invoice.status === 'accepted' && (
        <div class="fields">
          <Field name="note" label={CREDITING_TEXTS[language].note} value={note} onTyped={setNote} />
        </div>
      )}
      <FormTotals totals={shownTotals(input, deposits.left)} typed={typed} />
      <div role="alert">{refused && <ProblemList placed={refused} />}</div>
      <Refusal why={refused ? null : creation.refusal} />
      <button type="submit" class="primary" aria-disabled={creation.busy}>
        {REPLACING_TEXTS[language].submit}
      </button>
    </form>
  );
}

/** Returns the initial content of the form: the invoice as it was. */
function typedOf(invoice: Replaceable): TypedInvoice {
  const { customer, lines, discount, charge } = invoice;
  return {
    ...typedCustomerOf(customer),
    // A number is never used again, even after a rejection.
    number: '',
    lines: lines.map(typedLineOf),
    discount: typedAdjustmentOf(discount),
    charge: typedAdjustmentOf(charge),
    terms: { ...typedTermsOf(invoice.terms), ...(isOver(invoice.terms.dueDate) && { dueDate: '' }) },
    details: typedDetailsOf(invoice),
    isDeposit: invoice.isDeposit,
    deposits: invoice.deposits.map(({ id }) => id),
  };
}

/** Whether a due date is over, so that a corrected invoice does not keep it. */
function isOver(dueDate: string | null): boolean {
  return dueDate !== null && dueDate < new Date().toISOString().slice(0, 10);
}
