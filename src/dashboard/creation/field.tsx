import { useLanguage } from '../interface/language.tsx';
import { FINDING_TEXTS } from '../text/findings.ts';
import type { Fault } from './faults.tsx';

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly faults?: readonly Fault[] | undefined;
  readonly onTyped: (value: string) => void;
}

interface CheckProps {
  readonly name: string;
  readonly label: string;
  readonly checked: boolean;
  readonly onChecked: (checked: boolean) => void;
}

/** A box to check. */
export function Check({ name, label, checked, onChecked }: CheckProps) {
  return (
    <div class="field choices">
      <label for={name}>
        <input
          id={name}
          type="checkbox"
          checked={checked}
          onChange={({ currentTarget }) => onChecked(currentTarget.checked)}
        />
        {label}
      </label>
    </div>
  );
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
