/** `live` really transmits; `test` never calls the authority (specification, "What the service does", 5). */
export const ENVIRONMENTS = ['live', 'test'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

/** What the law wants to know of the seller (CGI art. 145-III); the fields of a complete profile. */
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
  /** Why lines at 0 % bear no VAT; null when the seller issues none. */
  readonly exemptionReason: string | null;
}

export interface Tenant {
  /** Prefix ten_. */
  readonly id: string;
  readonly name: string;
  /** What is known of the seller; live keys need all of it, test invoices fill the gaps with a labelled specimen. */
  readonly profile: Partial<SellerProfile>;
  readonly createdAt: Date;
}
