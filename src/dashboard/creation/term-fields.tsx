import { PAYMENT_MEANS_NAMES } from '../../domain/payment-means.ts';
import { useLanguage } from '../interface/language.tsx';
import { TERM_TEXTS } from '../text/term-fields.ts';
import type { TypedInvoice } from './drawn-up.ts';
import type { Faults } from './faults.tsx';
import { Choice, DateField } from './field.tsx';
import { meansOf, NO_TERMS, type TypedTerms } from './typed-terms.ts';

interface TermFieldsProps {
  readonly typed: TypedInvoice;
  readonly faults: Faults | undefined;
  readonly onTyped: (typed: TypedInvoice) => void;
}

/** The fields for the date of the sale, the due date and the means of payment. */
export function TermFields({ typed, faults, onTyped }: TermFieldsProps) {
  const { texts, language } = useLanguage();
  const terms = typed.terms ?? NO_TERMS;
  const { means, paymentMeans } = texts.settings;
  const field = (name: keyof TypedTerms, label: string) => ({
    name,
    label,
    value: terms[name],
    faults: faults?.get(name),
  });
  const set = (changed: Partial<TypedTerms>) => onTyped({ ...typed, terms: { ...terms, ...changed } });
  return (
    <div class="fields">
      <DateField {...field('operationDate', texts.operationOn)} onTyped={(operationDate) => set({ operationDate })} />
      <DateField {...field('dueDate', texts.dueOn)} onTyped={(dueDate) => set({ dueDate })} />
      <Choice
        {...field('paymentMeans', paymentMeans)}
        options={[
          ['', TERM_TEXTS[language].ofProfile],
          ...PAYMENT_MEANS_NAMES.map((name) => [name, means[name]] as const),
        ]}
        onTyped={(name) => set({ paymentMeans: meansOf(name) })}
      />
    </div>
  );
}
