import { UNITS } from '../../domain/invoice/units.ts';
import { useLanguage } from '../interface/language.tsx';
import { FINDING_TEXTS } from '../text/findings.ts';
import { useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { SCENARIOS } from './documents.ts';
import type { TypedInvoice } from './drawn-up.ts';
import type { Fault, Faults } from './faults.tsx';
import { fieldOfLine } from './place-findings.ts';
import type { TypedLine } from './typed-line.ts';

/** The ICE of a customer whose invoices are accepted. */
export const ORDINARY_ICE = '001234567000089';
const MOST_LINES = 20;

interface InvoiceFieldsProps {
  readonly typed: TypedInvoice;
  /** What a further line begins with. */
  readonly newLine: TypedLine;
  readonly faults?: Faults;
  readonly onTyped: (typed: TypedInvoice) => void;
}

/** The fields of an invoice: its customer and its lines. */
export function InvoiceFields({ typed, newLine, faults, onTyped }: InvoiceFieldsProps) {
  const { texts } = useLanguage();
  const setLine = (index: number, line: TypedLine | null) =>
    onTyped({ ...typed, lines: typed.lines.flatMap((each, i) => (i !== index ? [each] : line ? [line] : [])) });
  return (
    <>
      <CustomerFields typed={typed} faults={faults} onTyped={onTyped} />
      {typed.lines.map((line, index) => (
        <LineFields
          line={line}
          index={index}
          key={index}
          faults={faults}
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
  readonly faults: Faults | undefined;
  readonly onTyped: (typed: TypedInvoice) => void;
}

function CustomerFields({ typed, faults, onTyped }: CustomerFieldsProps) {
  const { texts } = useLanguage();
  const { environment } = useWorkspace();
  const { name, email, number } = texts.creation;
  const labels = { ice: texts.ice, name, email, number };
  const fields = (['ice', 'name', 'email', 'number'] as const).filter((field) => typed[field] !== undefined);
  return (
    <div class="fields">
      {environment === 'test' && <ScenarioChoice ice={typed.ice} onChosen={(ice) => onTyped({ ...typed, ice })} />}
      {fields.map((field) => (
        <Field
          name={field}
          label={labels[field]}
          value={typed[field] ?? ''}
          faults={faults?.get(field)}
          key={field}
          onTyped={(value) => onTyped({ ...typed, [field]: value })}
        />
      ))}
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
  /** Counted from 0. */
  readonly index: number;
  readonly faults: Faults | undefined;
  readonly onTyped: (line: TypedLine) => void;
  readonly onRemove: (() => void) | null;
}

function LineFields({ line, index, faults, onTyped, onRemove }: LineFieldsProps) {
  const { texts } = useLanguage();
  const { columns } = texts.invoices;
  const { line: nameOf, removeLine, discount, taxIncluded } = texts.creation;
  const labels = {
    description: columns.description,
    quantity: columns.quantity,
    unitPrice: `${columns.unitPrice} (MAD)`,
    discount,
    taxRate: `${columns.vat} (%)`,
  };
  const field = (name: keyof typeof labels) => (
    <Field
      name={fieldOfLine(name, index)}
      label={labels[name]}
      value={line[name] ?? ''}
      faults={faults?.get(fieldOfLine(name, index))}
      onTyped={(value) => onTyped({ ...line, [name]: value })}
    />
  );
  const included = fieldOfLine('taxIncluded', index);
  return (
    <fieldset>
      <legend>{nameOf(index + 1)}</legend>
      <div class="fields line">
        {field('description')}
        {field('quantity')}
        <UnitChoice line={line} index={index} onTyped={onTyped} />
        {field('unitPrice')}
        {field('taxRate')}
        {field('discount')}
        <div class="field choices">
          <label for={included}>
            <input
              id={included}
              type="checkbox"
              checked={line.taxIncluded ?? false}
              onChange={({ currentTarget }) => onTyped({ ...line, taxIncluded: currentTarget.checked })}
            />
            {taxIncluded}
          </label>
        </div>
      </div>
      {onRemove && (
        <button type="button" class="quiet" onClick={onRemove}>
          {removeLine}
        </button>
      )}
    </fieldset>
  );
}

/** Chooses the unit of a quantity. */
function UnitChoice({ line, index, onTyped }: Pick<LineFieldsProps, 'line' | 'index' | 'onTyped'>) {
  const { texts, language } = useLanguage();
  const id = fieldOfLine('unit', index);
  return (
    <div class="field">
      <label for={id}>{texts.creation.unit}</label>
      <select
        id={id}
        value={line.unit ?? ''}
        onChange={({ currentTarget }) => onTyped({ ...line, unit: currentTarget.value })}
      >
        <option value="">{texts.creation.pieces}</option>
        {Object.entries(UNITS).map(([code, symbols]) => (
          <option value={code} key={code}>
            {symbols[language]}
          </option>
        ))}
      </select>
    </div>
  );
}

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly faults?: readonly Fault[] | undefined;
  readonly onTyped: (value: string) => void;
}

/** A field for a text, with what is wrong with it. */
export function Field({ name, label, value, faults = [], onTyped }: FieldProps) {
  const { language } = useLanguage();
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <input
        id={name}
        name={name}
        type="text"
        autocomplete="off"
        value={value}
        aria-invalid={faults.some((fault) => (fault.value ?? value) === value)}
        aria-describedby={faults.length > 0 ? `${name}-fault` : undefined}
        onInput={({ currentTarget }) => onTyped(currentTarget.value)}
      />
      <div class="refusal" id={`${name}-fault`}>
        {faults.map(({ text, value: faulty }, i) => (
          <p key={i}>{faulty === undefined && value.trim() === '' ? FINDING_TEXTS[language].empty : text}</p>
        ))}
      </div>
    </div>
  );
}
