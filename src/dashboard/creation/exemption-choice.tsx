import { EXEMPTION_CODES, exemptionText } from '../../domain/morocco/exemptions.ts';
import { useLanguage } from '../interface/language.tsx';
import { CUSTOMER_TEXTS } from '../text/customers.ts';
import type { Faults } from './faults.tsx';
import { Choice, DateField, Field } from './field.tsx';
import { fieldOfLine } from './place-findings.ts';
import type { TypedLine } from './typed-line.ts';

interface ExemptionChoiceProps {
  readonly line: TypedLine;
  /** Counted from 0. */
  readonly index: number;
  readonly faults: Faults | undefined;
  readonly onTyped: (line: TypedLine) => void;
}

/** Chooses why a line at 0 % has no VAT, with the certificate of the buyer. */
export function ExemptionChoice({ line, index, faults, onTyped }: ExemptionChoiceProps) {
  const { language } = useLanguage();
  const { exemption, ofProfile, certificateNumber, certificateDate } = CUSTOMER_TEXTS[language];
  const labels = { exemption, certificateNumber, certificateDate };
  const field = (name: keyof typeof labels) => ({
    name: fieldOfLine(name, index),
    label: labels[name],
    value: line[name] ?? '',
    faults: faults?.get(fieldOfLine(name, index)),
    onTyped: (value: string) => onTyped({ ...line, [name]: value }),
  });
  const reasons = EXEMPTION_CODES.map((code) => [code, exemptionText(code, language)] as const);
  return (
    <>
      <Choice {...field('exemption')} options={[['', ofProfile], ...reasons]} wide />
      {line.exemption && (
        <>
          <Field {...field('certificateNumber')} />
          <DateField {...field('certificateDate')} />
        </>
      )}
    </>
  );
}
