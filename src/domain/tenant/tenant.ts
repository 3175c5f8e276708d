import type { DocumentLanguage } from '../document-language.ts';
import type { PaymentMeans } from '../payment-means.ts';
import type { LogoReference } from './logo.ts';

/** `live` really transmits; `test` never calls the authority (docs/api/contract.md, "Environments"). */
export const ENVIRONMENTS = ['live', 'test'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

/** Whose data it is: every query of a tenant's data names both. */
export interface Owner {
  readonly tenantId: string;
  readonly environment: Environment;
}

/** What the law wants to know of the seller (CGI art. 145-III); the fields of a complete profile, and how its documents look. */
export interface SellerProfile {
  readonly legalName: string;
  /** 15 digits. */
  readonly ice: string;
  /** Identifiant fiscal. */
  readonly taxId: string;
  /** Registre du commerce, with its court's town: `Casablanca 123456`. */
  readonly tradeRegister: string;
  /** Taxe professionnelle (patente). */
  readonly professionalTax: string;
  /** CNSS affiliation. */
  readonly cnss: string;
  readonly address: { readonly street: string; readonly city: string; readonly postalCode: string | null };
  readonly email: string;
  /** `SARL`, `SA`, … */
  readonly legalForm: string;
  /** Share capital in centimes. */
  readonly capital: number;
  /** How invoices are paid, in words: `Virement bancaire`. */
  readonly paymentMode: string;
  /** The same for programs; null where it is not known. */
  readonly paymentMeans: PaymentMeans | null;
  /** Days from an invoice's date to its due date; null: invoices state none unless they are given one. */
  readonly paymentTermDays: number | null;
  /** RIB, 24 digits. */
  readonly bankAccount: string | null;
  /** Whether the date of the operation is that of the invoice, where an invoice is given none. */
  readonly operationDateIsIssueDate: boolean;
  /** Why lines at 0 % bear no VAT; null when the seller issues none. */
  readonly exemptionReason: string | null;
  readonly documentLanguage: DocumentLanguage;
  /** Shown at the head of the PDF. */
  readonly logo: LogoReference | null;
}

export interface Tenant {
  /** Prefix ten_. */
  readonly id: string;
  readonly name: string;
  /** What is known of the seller; live keys need all of it, test invoices fill the gaps with a labelled specimen. */
  readonly profile: Partial<SellerProfile>;
  readonly createdAt: Date;
}

const PROFILE_FIELDS = [
  'legalName',
  'ice',
  'taxId',
  'tradeRegister',
  'professionalTax',
  'cnss',
  'address',
  'email',
  'legalForm',
  'capital',
  'paymentMode',
] as const satisfies readonly (keyof SellerProfile)[];

/** The mandatory fields that a profile lacks; all others are optional. */
export function missingProfileFields(profile: Partial<SellerProfile>): string[] {
  return PROFILE_FIELDS.filter((field) => profile[field] === undefined);
}

/** The labelled specimen seller that completes a test profile. Its ICE has a valid check key and belongs to nobody. */
export const SPECIMEN_SELLER: SellerProfile = {
  legalName: 'SPECIMEN - Société de démonstration',
  ice: '999000000000005',
  taxId: '00000000',
  tradeRegister: 'Casablanca 000000',
  professionalTax: '00000000',
  cnss: '0000000',
  address: { street: '1, rue du Spécimen', city: 'Casablanca', postalCode: '20000' },
  email: 'specimen@example.com',
  legalForm: 'SARL',
  capital: 10_000_000,
  paymentMode: 'Virement bancaire',
  paymentMeans: null,
  paymentTermDays: null,
  bankAccount: null,
  operationDateIsIssueDate: false,
  exemptionReason: 'Exonération (spécimen)',
  documentLanguage: 'fr',
  logo: null,
};

/** A profile without gaps, and whether specimen data fills any. */
export function completedProfile(profile: Partial<SellerProfile>): { seller: SellerProfile; specimen: boolean } {
  const specimen = missingProfileFields(profile).length > 0;
  const base = specimen ? SPECIMEN_SELLER : { ...SPECIMEN_SELLER, exemptionReason: null };
  return { seller: { ...base, ...profile }, specimen };
}
