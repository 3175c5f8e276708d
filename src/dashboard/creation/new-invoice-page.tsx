import { useLocation } from 'preact-iso';
import { hasScope } from '../../domain/scopes.ts';
import { CREATE_DRAFT } from '../drafts/documents.ts';
import { contentOf } from '../drafts/draft-content.ts';
import { keyOfKept } from '../interface/kept.ts';
import { keepTyped, useKeptTyped } from '../interface/kept-typed.ts';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { useTitle } from '../interface/use-title.ts';
import { DRAFT_TEXTS } from '../text/drafts.ts';
import { Missing } from '../workspace/missing.tsx';
import { useRequestKey } from '../workspace/request-key.ts';
import { useChange, useSharedRefusal } from '../workspace/use-change.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { CREATE_INVOICE } from './documents.ts';
import { drawnUp, type TypedInvoice } from './drawn-up.ts';
import { faultsOf, NO_FAULTS, ProblemList } from './faults.tsx';
import { FormTotals, shownTotals } from './form-totals.tsx';
import { InvoiceFields } from './invoice-fields.tsx';
import { SameByApi } from './same-by-api.tsx';
import { SAMPLE_CUSTOMER } from './sample-invoice.ts';
import { EMPTY_LINE, type TypedLine } from './typed-line.ts';
import { useDeposits } from './use-deposits.ts';
import { useRefused } from './use-refused.ts';

const NEW_LINE: TypedLine = { description: 'Conseil', quantity: '1', unitPrice: '1000,00', taxRate: '20' };
const NEW_TEST_INVOICE: TypedInvoice = {
  ...SAMPLE_CUSTOMER,
  email: '',
  lines: [NEW_LINE],
};
const NEW_LIVE_INVOICE: TypedInvoice = { ice: '', name: '', email: '', lines: [EMPTY_LINE] };

/** `…/invoices/new`: creates an invoice in the environment of the page. */
export function NewInvoicePage() {
  const { tenant, environment } = useWorkspace();
  const isOffered = hasScope(tenant.role, 'issue', environment);
  return isOffered ? <CreationForm /> : <Missing />;
}

function CreationForm() {
  const { texts, language } = useLanguage();
  const { address, personId, environment } = useWorkspace();
  const { route } = useLocation();
  const isTest = environment === 'test';
  const { submit } = texts.creation;
  const { title, lead } = isTest ? texts.creation : texts.creation.live;
  const initial = isTest ? NEW_TEST_INVOICE : NEW_LIVE_INVOICE;
  const keptAs = keyOfKept('typed', personId, location.pathname);
  const [typed, setTyped, wasKept] = useKeptTyped(keptAs, () => initial);
  const shared = useSharedRefusal();
  const creation = useChange(CREATE_INVOICE, shared);
  const keeping = useChange(CREATE_DRAFT, shared);
  const deposits = useDeposits(typed);
  const input = drawnUp(typed, deposits.left);
  const idempotencyKey = useRequestKey(input);
  const refused = useRefused(shared[0], typed.lines.length);
  useTitle(title);

  function leaveFor(made: string): void {
    keepTyped(keptAs, null);
    route(made);
  }

  async function create(): Promise<void> {
    const made = await creation.run({ input, idempotencyKey });
    if (made) leaveFor(`${address}/invoices/${made.invoice.id}`);
    else deposits.readAgain();
  }

  async function keep(): Promise<void> {
    const made = await keeping.run({ content: contentOf(typed, {}, deposits.left) });
    if (made) leaveFor(`${address}/drafts/${made.draft.id}`);
  }

  return (
    <section class="creation">
      <h1 class="title">{title}</h1>
      <p class="under">{lead}</p>
      {wasKept && typed !== initial && (
        <p class="under" role="status">
          {texts.creation.kept}{' '}
          <button type="button" class="quiet" onClick={() => setTyped(initial)}>
            {texts.creation.startAgain}
          </button>
        </p>
      )}
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <InvoiceFields
          typed={typed}
          newLine={isTest ? NEW_LINE : EMPTY_LINE}
          deposits={deposits}
          faults={refused ? faultsOf(refused, typed) : NO_FAULTS}
          onTyped={setTyped}
        />
        <FormTotals totals={shownTotals(input, deposits.left)} typed={typed} />
        <div role="alert">{refused && <ProblemList placed={refused} />}</div>
        <Refusal why={refused ? null : shared[0]} />
        <p class="actions">
          <button type="submit" class="primary" aria-disabled={creation.busy}>
            {submit}
          </button>
          <button type="button" class="secondary" aria-disabled={keeping.busy} onClick={() => void keep()}>
            {DRAFT_TEXTS[language].keep}
          </button>
        </p>
      </form>
      {isTest && <SameByApi input={input} />}
    </section>
  );
}
