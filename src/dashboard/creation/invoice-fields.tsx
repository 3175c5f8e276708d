import { useLanguage } from '../interface/language.tsx';
import { useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { SCENARIOS } from './documents.ts';
import type { TypedInvoice, TypedLine } from './drawn-up.ts';

/** The ICE of a customer whose invoices are accepted. */
export const ORDINARY_ICE = '001234567000089';
const MOST_LINES = 20;

interface InvoiceFieldsProps {
  readonly typed: TypedInvoice;
  /** What a further line begins with. */
  readonly newLine: TypedLine;
  readonly onTyped: (typed: TypedInvoice) => void;
}

/** The fields of an invoice: its customer and its lines. */
export function InvoiceFields({ typed, newLine, onTyped }: InvoiceFieldsProps) {
  const { texts } = useLanguage();
  const setLine = (index: number, line: TypedLine | null) =>
    onTyped({ ...typed, lines: typed.lines.flatMap((each, i) => (i !== index ? [each] : line ? [line] : [])) });
  return (
    <>
      <CustomerFields typed={typed} onTyped={onTyped} />
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
            onClick={() => onTyped({ ...typed, lines: [...typed.lines, newLine] })}
          >
            {texts.creation.addLine}
          </button>
        </p>
      )}
    </>
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

export function Field({ name, label, value, onTyped }: FieldProps) {
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
