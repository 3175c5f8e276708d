import { UNITS } from '../../domain/invoice/units.ts';
import { useLanguage } from '../interface/language.tsx';
import { AdjustmentFields } from './adjustment-fields.tsx';
import { CustomerFields } from './customer-fields.tsx';
import { DepositFields } from './deposit-fields.tsx';
import { DetailFields } from './detail-fields.tsx';
import type { TypedInvoice } from './drawn-up.ts';
import { ExemptionChoice } from './exemption-choice.tsx';
import type { Faults } from './faults.tsx';
import { Check, Choice, Field } from './field.tsx';
import { MOST_LINES } from './pasted-lines.ts';
import { fieldOfLine } from './place-findings.ts';
import { TermFields } from './term-fields.tsx';
import type { TypedLine } from './typed-line.ts';
import type { Deposits } from './use-deposits.ts';
import { usePastedLines } from './use-pasted-lines.ts';

interface InvoiceFieldsProps {
  readonly typed: TypedInvoice;
  /** The initial content of a further line. */
  readonly newLine: TypedLine;
  readonly deposits: Deposits;
  readonly faults?: Faults;
  readonly onTyped: (typed: TypedInvoice) => void;
}

/** The fields of an invoice: its customer, its lines, and the fields for all lines together. */
export function InvoiceFields({ typed, newLine, deposits, faults, onTyped }: InvoiceFieldsProps) {
  const { texts } = useLanguage();
  const { paste, undo, refused } = usePastedLines(typed, onTyped);
  const setLine = (index: number, line: TypedLine | null) =>
    onTyped({ ...typed, lines: typed.lines.flatMap((each, i) => (i !== index ? [each] : line ? [line] : [])) });
  return (
    <>
      <CustomerFields typed={typed} faults={faults} onTyped={onTyped} />
      <TermFields typed={typed} faults={faults} onTyped={onTyped} />
      {typed.lines.map((line, index) => (
        <LineFields
          line={line}
          index={index}
          key={index}
          faults={faults}
          onTyped={(changed) => setLine(index, changed)}
          onRemove={typed.lines.length > 1 ? () => setLine(index, null) : null}
          onPaste={(event, column) => paste(event, index, column)}
        />
      ))}
      {undo && (
        <p class="under" role="status">
          {texts.creation.pasted}{' '}
          <button type="button" class="quiet" onClick={undo}>
            {texts.creation.undoPaste}
          </button>
        </p>
      )}
      {refused && (
        <p class="refusal" role="alert">
          {refused.rows === null
            ? texts.creation.pasteTooLong
            : texts.creation.pasteTooMany(refused.rows, refused.most)}
        </p>
      )}
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
      <AdjustmentFields typed={typed} faults={faults} onTyped={onTyped} />
      <DepositFields typed={typed} deposits={deposits} faults={faults} onTyped={onTyped} />
      <DetailFields typed={typed} faults={faults} onTyped={onTyped} />
    </>
  );
}

interface LineFieldsProps {
  readonly line: TypedLine;
  /** Counted from 0. */
  readonly index: number;
  readonly faults: Faults | undefined;
  readonly onTyped: (line: TypedLine) => void;
  readonly onRemove: (() => void) | null;
  readonly onPaste: (event: ClipboardEvent, column: string) => void;
}

function LineFields({ line, index, faults, onTyped, onRemove, onPaste }: LineFieldsProps) {
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
      onPaste={(event) => onPaste(event, name)}
    />
  );
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
        {line.taxRate.trim() === '0' && <ExemptionChoice line={line} index={index} faults={faults} onTyped={onTyped} />}
      </div>
      <div class="line-end">
        <Check
          name={fieldOfLine('taxIncluded', index)}
          label={taxIncluded}
          checked={line.taxIncluded ?? false}
          onChecked={(checked) => onTyped({ ...line, taxIncluded: checked })}
        />
        {onRemove && (
          <button type="button" class="quiet" onClick={onRemove}>
            {removeLine}
          </button>
        )}
      </div>
    </fieldset>
  );
}

/** Chooses the unit of a quantity. */
function UnitChoice({ line, index, onTyped }: Pick<LineFieldsProps, 'line' | 'index' | 'onTyped'>) {
  const { texts, language } = useLanguage();
  const units = Object.entries(UNITS).map(([code, symbols]) => [code, symbols[language]] as const);
  return (
    <Choice
      name={fieldOfLine('unit', index)}
      label={texts.creation.unit}
      value={line.unit ?? ''}
      options={[['', texts.creation.pieces], ...units]}
      onTyped={(unit) => onTyped({ ...line, unit })}
    />
  );
}
