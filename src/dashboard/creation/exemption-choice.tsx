import { EXEMPTION_CODES, exemptionText } from '../../domain/morocco/exemptions.ts';
import { useLanguage } from '../interface/language.tsx';
import { CUSTOMER_TEXTS } from '../text/customers.ts';
import { Field } from './field.tsx';
import { fieldOfLine } from './place-findings.ts';
import type { TypedLine } from './typed-line.ts';

interface ExemptionChoiceProps {
  readonly line: TypedLine;
  /** Counted from 0. */
  readonly index: number;
  readonly onTyped: (line: TypedLine) => void;
}

/** Chooses why a line at 0 % has no VAT, with the certificate of the buyer. */
export function ExemptionChoice({ line, index, onTyped }: ExemptionChoiceProps) {
  const { language } = useLanguage();
  const { exemption, ofProfile, certificateNumber, certificateDate } = CUSTOMER_TEXTS[language];
  const labels = { certificateNumber, certificateDate };
  const id = fieldOfLine('exemption', index);
  return (
    <>
      <div class="field wide">
        <label for={id}>{exemption}</label>
        <select
          id={id}
          value={line.exemption ?? ''}
          onChange={({ currentTarget }) => onTyped({ ...line, exemption: currentTarget.value })}
        >
          <option value="">{ofProfile}</option>
          {EXEMPTION_CODES.map((code) => (
            <option value={code} key={code}>
              {exemptionText(code, language)}
            </option>
          ))}
        </select>
      </div>
      {line.exemption &&
        (['certificateNumber', 'certificateDate'] as const).map((name) => (
          <Field
            name={fieldOfLine(name, index)}
            label={labels[name]}
            value={line[name] ?? ''}
            key={name}
            onTyped={(value) => onTyped({ ...line, [name]: value })}
          />
        ))}
    </>
  );
}
