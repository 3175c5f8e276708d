import { CREDIT_LABELS } from '../../text/credit-labels.ts';
import { CREDIT_REASON_TEXTS } from '../../text/credit-reasons.ts';
import { useLanguage } from '../interface/language.tsx';
import { ServiceMessage } from '../interface/refusal.tsx';
import { CREDITING_TEXTS } from '../text/crediting.ts';
import { ERROR_TEXTS } from '../text/errors.ts';
import { formatMoney, formatUnitPrice, quantityIn } from '../text/money.ts';
import type { Creditable, Fault } from './documents.ts';
import { fieldOfLine, fieldOfRate, type TypedCredit, WAYS } from './typed-credit.ts';

interface CreditFieldsProps {
  readonly creditable: Creditable;
  readonly typed: TypedCredit;
  readonly onTyped: (typed: TypedCredit) => void;
  /** The faults that the service would refuse, by the field's id. */
  readonly faults: ReadonlyMap<string, Fault>;
}

/** The choice of what is credited, with the fields of the chosen way. */
export function WayFields(props: CreditFieldsProps) {
  const { creditable, typed, onTyped } = props;
  const { language } = useLanguage();
  const { what, ways } = CREDITING_TEXTS[language];
  const isWhole = creditable.left.amount === creditable.invoice.amount;
  return (
    <>
      <fieldset class="choices">
        <legend>{what}</legend>
        {WAYS.map((way) => (
          <label key={way}>
            <input
              type="radio"
              name="way"
              value={way}
              checked={typed.way === way}
              onChange={() => onTyped({ ...typed, way })}
            />
            {ways[way === 'rest' && isWhole ? 'whole' : way]}
          </label>
        ))}
      </fieldset>
      {typed.way === 'lines' && <LineFields {...props} />}
      {typed.way === 'amounts' && <AmountFields {...props} />}
    </>
  );
}

function LineFields({ creditable: { invoice }, typed, onTyped, faults }: CreditFieldsProps) {
  const { language, texts } = useLanguage();
  const { quantity: labelOf, most, quantityFault, partFault } = CREDITING_TEXTS[language];
  return (
    <ul class="log lines-to-credit">
      {invoice.lines.map(({ description, quantity, unit, unitPrice, taxIncluded, taxRate }, i) => {
        const line = i + 1;
        const id = fieldOfLine(line);
        const whole = quantityIn(quantity, unit, language);
        const isCounted = unit === null && Number.isInteger(quantity);
        return (
          <li key={id}>
            <span class="what">
              <bdi>{description}</bdi>{' '}
              <span class="under">
                <bdi>
                  {formatUnitPrice(unitPrice, language)} MAD{taxIncluded && ` ${texts.creation.taxMark}`}
                </bdi>{' '}
                · <bdi>{taxRate}&nbsp;%</bdi>
              </span>
            </span>
            <Figure
              id={id}
              label={labelOf(line)}
              isLabelUnseen
              hint={most(whole)}
              value={typed.quantities.get(line) ?? ''}
              fault={faults.get(id)}
              expected={isCounted ? quantityFault(whole) : partFault(whole)}
              onTyped={(text) => onTyped({ ...typed, quantities: new Map(typed.quantities).set(line, text) })}
            />
          </li>
        );
      })}
    </ul>
  );
}

function AmountFields({ creditable: { left }, typed, onTyped, faults }: CreditFieldsProps) {
  const { language } = useLanguage();
  const { netAt, left: leftOf, amountFault } = CREDITING_TEXTS[language];
  return (
    <div class="fields">
      {left.taxTotals.map(({ rate, base }) => {
        const id = fieldOfRate(rate);
        return (
          <Figure
            key={id}
            id={id}
            label={netAt(rate)}
            hint={leftOf(formatMoney(base, language))}
            value={typed.nets.get(rate) ?? ''}
            fault={faults.get(id)}
            expected={amountFault}
            onTyped={(text) => onTyped({ ...typed, nets: new Map(typed.nets).set(rate, text) })}
          />
        );
      })}
    </div>
  );
}

interface FigureProps {
  readonly id: string;
  readonly label: string;
  readonly isLabelUnseen?: boolean;
  readonly hint: string;
  readonly value: string;
  readonly fault: Fault | undefined;
  /** The text for an unreadable figure. */
  readonly expected: string;
  readonly onTyped: (text: string) => void;
}

/** A field for a figure, with the fault that the service would refuse. */
function Figure({ id, label, isLabelUnseen = false, hint, value, fault, expected, onTyped }: FigureProps) {
  return (
    <div class="field figure">
      <label for={id} class={isLabelUnseen ? 'unseen' : undefined}>
        {label}
      </label>
      <input
        id={id}
        type="text"
        inputMode="decimal"
        autocomplete="off"
        dir="ltr"
        maxLength={30}
        value={value}
        aria-invalid={fault !== undefined}
        aria-describedby={`${id}-hint ${id}-fault`}
        onInput={({ currentTarget }) => onTyped(currentTarget.value)}
      />
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
      <p class="refusal" id={`${id}-fault`}>
        {fault?.code === 'invalid_request' ? expected : fault && <FaultMessage fault={fault} />}
      </p>
    </div>
  );
}

function FieldFault({ id, fault }: { id: string; fault: Fault | undefined }) {
  return (
    <p class="refusal" id={`${id}-fault`}>
      {fault && <FaultMessage fault={fault} />}
    </p>
  );
}

/** Shows why the service would refuse the credit note. */
export function FaultMessage({ fault: { code, message } }: { fault: Fault }) {
  const { language } = useLanguage();
  return <ServiceMessage own={language === 'en' ? null : ERROR_TEXTS[language][code]} message={message} />;
}

/** The reason, as a code and in words. */
export function ReasonFields({ typed, onTyped, faults }: CreditFieldsProps) {
  const { language } = useLanguage();
  const { chooseReason, note, noteHint } = CREDITING_TEXTS[language];
  const reasons = Object.entries(CREDIT_REASON_TEXTS);
  return (
    <div class="fields">
      <div class="field">
        <label for="reason">{CREDIT_LABELS[language].reason}</label>
        <select
          id="reason"
          required
          value={typed.reason}
          onChange={({ currentTarget }) => onTyped({ ...typed, reason: currentTarget.value as TypedCredit['reason'] })}
        >
          <option value="">{chooseReason}</option>
          {reasons.map(([code, words]) => (
            <option value={code} key={code}>
              {words[language]}
            </option>
          ))}
        </select>
      </div>
      <div class="field">
        <label for="note">{note}</label>
        <input
          id="note"
          type="text"
          autocomplete="off"
          dir="auto"
          maxLength={500}
          value={typed.note}
          aria-invalid={faults.has('note')}
          aria-describedby="note-hint note-fault"
          onInput={({ currentTarget }) => onTyped({ ...typed, note: currentTarget.value })}
        />
        <p class="hint" id="note-hint">
          {noteHint}
        </p>
        <FieldFault id="note" fault={faults.get('note')} />
      </div>
    </div>
  );
}
