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
