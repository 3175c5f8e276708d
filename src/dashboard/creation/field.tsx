import type { ComponentChild } from 'preact';
import { isCalendarDate } from '../../domain/calendar-date.ts';
import { useLanguage } from '../interface/language.tsx';
import { FINDING_TEXTS } from '../text/findings.ts';
import type { Fault } from './faults.tsx';

/** The properties of every field of a form. */
export interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly faults?: readonly Fault[] | undefined;
  readonly onTyped: (value: string) => void;
}

interface CheckProps {
  readonly name: string;
  readonly label: ComponentChild;
  readonly checked: boolean;
  readonly disabled?: boolean;
  readonly onChecked: (checked: boolean) => void;
}

/** A box to check. */
export function Check({ name, label, checked, disabled = false, onChecked }: CheckProps) {
  return (
    <div class="field choices">
      <label for={name}>
        <input
          id={name}
          type="checkbox"
          checked={checked}
          disabled={disabled}
          onChange={({ currentTarget }) => onChecked(currentTarget.checked)}
        />
        {label}
      </label>
    </div>
  );
}

interface Combobox {
  readonly role: 'combobox';
  readonly 'aria-autocomplete': 'list';
  readonly 'aria-expanded': boolean;
  readonly 'aria-controls': string | undefined;
  readonly 'aria-activedescendant': string | undefined;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly onBlur: () => void;
}

interface TextFieldProps extends FieldProps {
  /** Whether it is a field for a day. */
  readonly isDay?: boolean;
  /** Attributes of the input that completes the typed text. */
  readonly completion?: Combobox;
  readonly onPaste?: (event: ClipboardEvent) => void;
  /** The content that completes it, below the input. */
  readonly children?: ComponentChild;
}

/** A field for a text, with its faults. */
export function Field(props: TextFieldProps) {
  const { name, label, value, faults = [], isDay = false, completion, onPaste, children, onTyped } = props;
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <input
        id={name}
        name={name}
        {...(isDay ? { type: 'date' } : { type: 'text', ...completion })}
        autocomplete="off"
        value={value}
        aria-invalid={isWrong(value, faults)}
        aria-describedby={faults.length > 0 ? `${name}-fault` : undefined}
        onInput={({ currentTarget }) => onTyped(currentTarget.value)}
        onPaste={onPaste}
      />
      {children}
      <FaultList name={name} value={value} faults={faults} />
    </div>
  );
}

/** A field for a day. A text that is no day stays visible. */
export function DateField(props: FieldProps) {
  return <Field {...props} isDay={props.value === '' || isCalendarDate(props.value)} />;
}

interface ChoiceProps extends FieldProps {
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly wide?: boolean;
}

/** A list to choose from, with the faults of the choice. */
export function Choice({ name, label, value, faults = [], options, wide = false, onTyped }: ChoiceProps) {
  return (
    <div class={wide ? 'field wide' : 'field'}>
      <label for={name}>{label}</label>
      <select
        id={name}
        value={value}
        aria-invalid={isWrong(value, faults)}
        aria-describedby={faults.length > 0 ? `${name}-fault` : undefined}
        onChange={({ currentTarget }) => onTyped(currentTarget.value)}
      >
        {options.map(([option, text]) => (
          <option value={option} key={option}>
            {text}
          </option>
        ))}
      </select>
      <FaultList name={name} value={value} faults={faults} />
    </div>
  );
}

function isWrong(value: string, faults: readonly Fault[]): boolean {
  return faults.some((fault) => (fault.value ?? value) === value);
}

interface FaultListProps extends Pick<FieldProps, 'name' | 'value'> {
  readonly faults: readonly Fault[];
}

/** Says what is wrong with a field. */
export function FaultList({ name, value, faults }: FaultListProps) {
  const { language } = useLanguage();
  return (
    <div class="refusal" id={`${name}-fault`}>
      {faults.map(({ text, value: faulty }, i) => (
        <p key={i}>{faulty === undefined && value.trim() === '' ? FINDING_TEXTS[language].empty : text}</p>
      ))}
    </div>
  );
}
