import { useMemo, useState } from 'preact/hooks';
import { FOREIGN_CURRENCIES } from '../../domain/currencies.ts';
import { useLanguage } from '../interface/language.tsx';
import { DETAIL_TEXTS } from '../text/details.ts';
import type { TypedInvoice } from './drawn-up.ts';
import type { Faults } from './faults.tsx';
import { Choice, DateField, Field } from './field.tsx';
import { DETAILS, hasDetails, NO_DETAILS, type TypedDetails } from './typed-details.ts';

interface DetailFieldsProps {
  readonly typed: TypedInvoice;
  readonly faults: Faults | undefined;
  readonly onTyped: (typed: TypedInvoice) => void;
}

/** The fields that few invoices use, closed while they are empty and have no faults. */
export function DetailFields({ typed, faults, onTyped }: DetailFieldsProps) {
  const { language } = useLanguage();
  const details = typed.details ?? NO_DETAILS;
  const [isOpen, setOpen] = useState(hasDetails(details));
  const currencies = useCurrencies();
  const { more, labels } = DETAIL_TEXTS[language];
  const isFaulty = DETAILS.some((name) => faults?.has(name));
  const field = (name: keyof TypedDetails) => ({
    name,
    label: labels[name],
    value: details[name],
    faults: faults?.get(name),
    onTyped: (value: string) => onTyped({ ...typed, details: { ...details, [name]: value } }),
  });
  return (
    <details
      id="more"
      class="more"
      open={isOpen || isFaulty}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>{more}</summary>
      <div class="fields">
        <Field {...field('order')} />
        <Field {...field('contract')} />
      </div>
      <div class="fields">
        <DateField {...field('periodFrom')} />
        <DateField {...field('periodTo')} />
      </div>
      <div class="fields">
        <Choice {...field('foreignCurrency')} options={currencies} />
        <Field {...field('foreignAmount')} />
        <Field {...field('foreignRate')} />
        <DateField {...field('foreignDate')} />
      </div>
      <div class="fields">
        <Field {...field('withheldPercent')} />
        <Field {...field('regularityNumber')} />
        <DateField {...field('regularityDate')} />
      </div>
    </details>
  );
}

/** Returns the currencies by their codes, which people type to choose one. */
function useCurrencies() {
  const { language } = useLanguage();
  return useMemo(() => {
    const names = new Intl.DisplayNames(language, { type: 'currency' });
    const rows = FOREIGN_CURRENCIES.map((code) => [code, `${code} – ${names.of(code) ?? code}`] as const);
    return [['', '—'] as const, ...rows];
  }, [language]);
}
