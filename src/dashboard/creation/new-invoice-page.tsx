import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { hasScope } from '../../domain/scopes.ts';
import { useLanguage } from '../interface/language.tsx';
import { NotFound } from '../interface/not-found.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { useTitle } from '../interface/use-title.ts';
import { formatAmount } from '../text/money.ts';
import { useRequestKey } from '../workspace/request-key.ts';
import { useChange } from '../workspace/use-change.ts';
import { useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { CREATE_INVOICE, SCENARIOS } from './documents.ts';
import { drawnUp, type TypedInvoice, type TypedLine } from './drawn-up.ts';
import { SameByApi } from './same-by-api.tsx';

/** The ICE of a customer whose invoices are accepted. */
const ORDINARY_ICE = '001234567000089';
const NEW_LINE: TypedLine = { description: 'Conseil', quantity: '1', unitPrice: '1000,00', taxRate: '20' };
const NEW_TEST_INVOICE: TypedInvoice = {
  ice: ORDINARY_ICE,
  name: 'Atlas Distribution SARL',
  email: '',
  lines: [NEW_LINE],
};
/** A live invoice has nothing that was not typed, except the most frequent quantity and rate. */
const EMPTY_LINE: TypedLine = { description: '', quantity: '1', unitPrice: '', taxRate: '20' };
const NEW_LIVE_INVOICE: TypedInvoice = { ice: '', name: '', email: '', lines: [EMPTY_LINE] };
const MOST_LINES = 20;

/** `…/invoices/new`: creates an invoice in the environment of the page. */
export function NewInvoicePage() {
  const { tenant, environment } = useWorkspace();
  const isOffered = hasScope(tenant.role, 'issue', environment);
  return isOffered ? <CreationForm /> : <NotFound />;
}

function CreationForm() {
  const { texts, language } = useLanguage();
  const { address, environment } = useWorkspace();
  const { route } = useLocation();
  const isTest = environment === 'test';
  const { submit, addLine } = texts.creation;
  const { title, lead } = isTest ? texts.creation : texts.creation.live;
  const [typed, setTyped] = useState(isTest ? NEW_TEST_INVOICE : NEW_LIVE_INVOICE);
  const creation = useChange(CREATE_INVOICE);
  const input = drawnUp(typed);
  const idempotencyKey = useRequestKey(input);
  useTitle(title);

  async function create(): Promise<void> {
    const made = await creation.run({ input, idempotencyKey });
    if (made) route(`${address}/invoices/${made.invoice.id}`);
  }
  const setLine = (index: number, line: TypedLine | null) =>
    setTyped({ ...typed, lines: typed.lines.flatMap((each, i) => (i !== index ? [each] : line ? [line] : [])) });

  return (
    <section class="creation">
      <h1 class="title">{title}</h1>
      <p class="under">{lead}</p>
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <CustomerFields typed={typed} onTyped={setTyped} />
        {typed.lines.map((line, index) => (
          <LineFields
            line={line}
            n={index + 1}
            key={index}
            onTyped={(changed) => setLine(index, changed)}
            onRemove={typed.lines.length > 1 ? () => setLine(index, null) : null}
          />
        ))}
        {typed.lines.length < MOST_LINES && (
          <p>
            <button
              type="button"
              class="secondary"
              onClick={() => setTyped({ ...typed, lines: [...typed.lines, isTest ? NEW_LINE : EMPTY_LINE] })}
            >
              {addLine}
            </button>
          </p>
        )}
        <p class="total">
          {texts.total}{' '}
          <bdi>
            <strong>{formatAmount(input.amount, language)}</strong> MAD
          </bdi>
        </p>
        <Refusal why={creation.refusal} />
        <button type="submit" class="primary" aria-disabled={creation.busy}>
          {submit}
        </button>
      </form>
      {isTest && <SameByApi input={input} />}
    </section>
  );
}

interface CustomerFieldsProps {
  readonly typed: TypedInvoice;
  readonly onTyped: (typed: TypedInvoice) => void;
}

function CustomerFields({ typed, onTyped }: CustomerFieldsProps) {
  const { texts } = useLanguage();
  const { environment } = useWorkspace();
  const { name, email } = texts.creation;
  return (
    <div class="fields">
      {environment === 'test' && <ScenarioChoice ice={typed.ice} onChosen={(ice) => onTyped({ ...typed, ice })} />}
      <Field name="ice" label={texts.ice} value={typed.ice} onTyped={(ice) => onTyped({ ...typed, ice })} />
      <Field name="name" label={name} value={typed.name} onTyped={(value) => onTyped({ ...typed, name: value })} />
      <Field name="email" label={email} value={typed.email} onTyped={(value) => onTyped({ ...typed, email: value })} />
    </div>
  );
}

/** Chooses the outcome of a test invoice, by the ICE of its customer. */
function ScenarioChoice({ ice, onChosen }: { readonly ice: string; readonly onChosen: (ice: string) => void }) {
  const { texts } = useLanguage();
  const { data } = useRead(SCENARIOS, {});
  const { scenario, scenarios, ordinary } = texts.creation;
  return (
    <div class="field wide">
      <label for="scenario">{scenario}</label>
      <select
        id="scenario"
        value={data?.testScenarios.some((each) => each.ice === ice) ? ice : ORDINARY_ICE}
        onChange={({ currentTarget }) => onChosen(currentTarget.value)}
      >
        <option value={ORDINARY_ICE}>{ordinary}</option>
        {data?.testScenarios.map((each) => (
          <option value={each.ice} key={each.ice}>
            {scenarios[each.name]}
          </option>
        ))}
      </select>
    </div>
  );
}

interface LineFieldsProps {
  readonly line: TypedLine;
  readonly n: number;
  readonly onTyped: (line: TypedLine) => void;
  readonly onRemove: (() => void) | null;
}

function LineFields({ line, n, onTyped, onRemove }: LineFieldsProps) {
  const { texts } = useLanguage();
  const { columns } = texts.invoices;
  const { line: nameOf, removeLine } = texts.creation;
  const fields = [
    ['description', columns.description],
    ['quantity', columns.quantity],
    ['unitPrice', `${columns.unitPrice} (MAD)`],
    ['taxRate', `${columns.vat} (%)`],
  ] as const;
  return (
    <fieldset>
      <legend>{nameOf(n)}</legend>
      <div class="fields line">
        {fields.map(([field, label]) => (
          <Field
            name={`${field}-${n}`}
            label={label}
            value={line[field]}
            key={field}
            onTyped={(value) => onTyped({ ...line, [field]: value })}
          />
        ))}
      </div>
      {onRemove && (
        <button type="button" class="quiet" onClick={onRemove}>
          {removeLine}
        </button>
      )}
    </fieldset>
  );
}

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly onTyped: (value: string) => void;
}

function Field({ name, label, value, onTyped }: FieldProps) {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <input
        id={name}
        name={name}
        type="text"
        autocomplete="off"
        value={value}
        onInput={({ currentTarget }) => onTyped(currentTarget.value)}
      />
    </div>
  );
}
