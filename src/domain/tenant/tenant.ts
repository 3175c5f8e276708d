import type { DocumentLanguage } from '../document-language.ts';
import type { PaymentMeans } from '../payment-means.ts';
import type { LogoReference } from './logo.ts';

/** The environments. `live` transmits to the authority; `test` never does (docs/api/contract.md, "Environments"). */
export const ENVIRONMENTS = ['test', 'live'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

/** The tenant and environment that own data. Every query of a tenant's data states both. */
export interface Owner {
  readonly tenantId: string;
  readonly environment: Environment;
}

/** The seller's data that the law requires (CGI art. 145-III), and the settings of its documents. */
export interface SellerProfile {
  readonly legalName: string;
  /** 15 digits. */
  readonly ice: string;
  /** Identifiant fiscal. */
  readonly taxId: string;
  /** Registre du commerce, with the town of its court: `Casablanca 123456`. */
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
  /** Default payment mode in words: `Virement bancaire`. */
  readonly paymentMode: string;
  /** Default payment means as a code; null if unknown. */
  readonly paymentMeans: PaymentMeans | null;
  /** Default payment term, in days from an invoice's date; null if there is no default. */
  readonly paymentTermDays: number | null;
  /** RIB, 24 digits. */
  readonly bankAccount: string | null;
  /** Whether the date of the operation defaults to the invoice's date. */
  readonly operationDateIsIssueDate: boolean;
  /** Why lines at 0 % are exempt from VAT; null if no reason is set. */
  readonly exemptionReason: string | null;
  readonly documentLanguage: DocumentLanguage;
  /** The logo at the top of the PDF. */
  readonly logo: LogoReference | null;
}

export interface Tenant {
  /** Prefix ten_. */
  readonly id: string;
  readonly name: string;
  /** The known data of the seller. Live keys require all of it; test invoices fill gaps with labelled specimen data. */
  readonly profile: Partial<SellerProfile>;
  readonly createdAt: Date;
  /** Since when the tenant can only read; null if it is not suspended. Work under way continues. */
  readonly suspendedAt: Date | null;
  /** Limit of requests per minute for all its secret keys in an environment; absent: RATE_LIMIT_TENANT. */
  readonly requestsPerMinute?: number;
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

/** Returns the fields of a change that differ from the profile. A logo is compared by its digest. */
export function changedFields(profile: Partial<SellerProfile>, change: object): string[] {
  const text = (value: unknown) =>
    JSON.stringify(typeof value === 'object' && value && 'sha256' in value ? value.sha256 : (value ?? null));
  const stored = profile as Readonly<Record<string, unknown>>;
  return Object.entries(change).flatMap(([field, value]) => (text(value) === text(stored[field]) ? [] : [field]));
}

/** Returns the mandatory fields that a profile lacks. */
export function missingProfileFields(profile: Partial<SellerProfile>): string[] {
  return PROFILE_FIELDS.filter((field) => profile[field] === undefined);
}

/**
 * The labelled specimen seller that completes a test profile. Its ICE has a valid check key and belongs to no company.
 */
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

/** Completes a profile. `specimen` says whether a mandatory field was filled with specimen data. */
export function completedProfile(profile: Partial<SellerProfile>): { seller: SellerProfile; specimen: boolean } {
  const specimen = missingProfileFields(profile).length > 0;
  const base = specimen ? SPECIMEN_SELLER : { ...SPECIMEN_SELLER, exemptionReason: null };
  return { seller: { ...base, ...profile }, specimen };
}
