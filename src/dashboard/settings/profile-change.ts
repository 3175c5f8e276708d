import { centimesOf, plainAmount } from '../text/money.ts';
import type { PaymentMeans, ProfileChange, Seller } from './documents.ts';

/** The text fields of the form, including those of the address. */
export const COMPANY_FIELDS = [
  'legalName',
  'legalForm',
  'capital',
  'ice',
  'taxId',
  'tradeRegister',
  'professionalTax',
  'cnss',
] as const;
export const CONTACT_FIELDS = ['street', 'city', 'postalCode', 'email'] as const;
export const PAYMENT_FIELDS = ['paymentMode', 'paymentTermDays', 'bankAccount', 'exemptionReason'] as const;

export type TextField = (typeof COMPANY_FIELDS | typeof CONTACT_FIELDS | typeof PAYMENT_FIELDS)[number];

/** The profile as typed. */
export interface TypedProfile {
  readonly texts: Readonly<Record<TextField, string>>;
  /** Empty if none is chosen. */
  readonly paymentMeans: PaymentMeans | '';
  readonly documentLanguage: NonNullable<Seller['documentLanguage']>;
  readonly operationDateIsIssueDate: boolean;
  /** A data URL of a new logo; null removes the logo; undefined leaves it. */
  readonly logo: string | null | undefined;
}

/** Fills the form from a stored profile. */
export function typedProfile(seller: Seller): TypedProfile {
  const { address, capital, paymentTermDays } = seller;
  return {
    texts: {
      legalName: seller.legalName ?? '',
      legalForm: seller.legalForm ?? '',
      ice: seller.ice ?? '',
      taxId: seller.taxId ?? '',
      tradeRegister: seller.tradeRegister ?? '',
      cnss: seller.cnss ?? '',
      professionalTax: seller.professionalTax ?? '',
      email: seller.email ?? '',
      street: address?.street ?? '',
      city: address?.city ?? '',
      postalCode: address?.postalCode ?? '',
      paymentMode: seller.paymentMode ?? '',
      bankAccount: seller.bankAccount ?? '',
      exemptionReason: seller.exemptionReason ?? '',
      capital: capital === null ? '' : plainAmount(capital),
      paymentTermDays: paymentTermDays === null ? '' : String(paymentTermDays),
    },
    paymentMeans: seller.paymentMeans ?? '',
    documentLanguage: seller.documentLanguage ?? 'fr',
    operationDateIsIssueDate: seller.operationDateIsIssueDate,
    logo: undefined,
  };
}

/** Converts a field to the API's form. A value that the API refuses is sent too, so that the service says why. */
const VALUES: Readonly<Partial<Record<TextField, (text: string) => string | number | null>>> = {
  capital: (text) => centimesOf(text) ?? -1,
  ice: (text) => text.replaceAll(/\s/g, ''),
  bankAccount: (text) => text.replaceAll(/\s/g, '') || null,
  // An emptied field removes the stored value.
  exemptionReason: (text) => text || null,
  paymentTermDays: (text) => (text === '' ? null : /^\d{1,5}$/.test(text) ? Number(text) : -1),
};

/** Returns the fields that differ from the stored profile, in the API's form. */
export function profileChange(seller: Seller, typed: TypedProfile): ProfileChange {
  const change: Record<string, unknown> = {};
  for (const field of [...COMPANY_FIELDS, ...PAYMENT_FIELDS, 'email'] as const) {
    const text = typed.texts[field].trim();
    if (text === '' && seller[field] === null) continue;
    const value = VALUES[field]?.(text) ?? (field in VALUES ? null : text);
    if (value !== seller[field]) change[field] = value;
  }
  const { street, city, postalCode } = typed.texts;
  const address = { street: street.trim(), city: city.trim(), postalCode: postalCode.trim() || null };
  const before = seller.address ?? { street: '', city: '', postalCode: null };
  if (address.street !== before.street || address.city !== before.city || address.postalCode !== before.postalCode)
    change.address = address;
  if ((typed.paymentMeans || null) !== seller.paymentMeans) change.paymentMeans = typed.paymentMeans || null;
  if (typed.documentLanguage !== (seller.documentLanguage ?? 'fr')) change.documentLanguage = typed.documentLanguage;
  if (typed.operationDateIsIssueDate !== seller.operationDateIsIssueDate)
    change.operationDateIsIssueDate = typed.operationDateIsIssueDate;
  if (typed.logo !== undefined) change.logo = typed.logo;
  return change as ProfileChange;
}
