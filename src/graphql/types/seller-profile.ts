import type { DocumentLanguage } from '../../domain/document-language.ts';
import { isMember } from '../../domain/principal.ts';
import { missingProfileFields, type SellerProfile } from '../../domain/tenant/tenant.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../enum-of.ts';
import { addDocumentFields } from './fiscal-documents.ts';
import { PaymentMeansType } from './payment-means.ts';

const LANGUAGE_NAMES: Readonly<Record<DocumentLanguage, string>> = { fr: 'French.', ar: 'Arabic.', en: 'English.' };

export const DocumentLanguageType = enumOf(
  'DocumentLanguage',
  'A language of the fixed texts of printed invoices and mails.',
  LANGUAGE_NAMES,
);

const SellerAddressType = builder.objectRef<SellerProfile['address']>('SellerAddress').implement({
  description: 'Address of the seller.',
  fields: (t) => ({
    street: t.exposeString('street', { description: 'Street and number.' }),
    city: t.exposeString('city', { description: 'City.' }),
    postalCode: t.exposeString('postalCode', { nullable: true, description: 'Postal code.' }),
  }),
});

const SellerLogoType = builder.objectRef<NonNullable<SellerProfile['logo']>>('SellerLogo').implement({
  description: 'The logo at the top of the PDF.',
  fields: (t) => ({
    sha256: t.exposeString('sha256', { description: 'SHA-256 of the image file, lower-case hexadecimal.' }),
    contentType: t.exposeString('contentType', { description: '`image/png` or `image/jpeg`.' }),
    width: t.exposeInt('width', { description: 'Width in pixels.' }),
    height: t.exposeInt('height', { description: 'Height in pixels.' }),
  }),
});

/** A seller profile, which may be incomplete: an unknown field is null. */
export const SellerProfileType = builder.objectRef<Partial<SellerProfile>>('SellerProfile').implement({
  description:
    'The legal information about the seller and the appearance of its documents. Unknown fields are null; live keys need every mandatory field (see `missingFields`).',
  fields: (t) => ({
    legalName: t.string({ nullable: true, description: 'Raison sociale.', resolve: ({ legalName }) => legalName }),
    ice: t.string({
      nullable: true,
      description: 'Identifiant commun de l’entreprise, 15 digits.',
      resolve: ({ ice }) => ice,
    }),
    taxId: t.string({ nullable: true, description: 'Identifiant fiscal.', resolve: ({ taxId }) => taxId }),
    tradeRegister: t.string({
      nullable: true,
      description: 'Registre du commerce, with the town of its court: `Casablanca 123456`.',
      resolve: ({ tradeRegister }) => tradeRegister,
    }),
    professionalTax: t.string({
      nullable: true,
      description: 'Taxe professionnelle (patente).',
      resolve: ({ professionalTax }) => professionalTax,
    }),
    cnss: t.string({ nullable: true, description: 'CNSS affiliation.', resolve: ({ cnss }) => cnss }),
    address: t.field({
      type: SellerAddressType,
      nullable: true,
      description: 'Address of the seller.',
      resolve: ({ address }) => address,
    }),
    email: t.string({ nullable: true, description: 'E-mail address.', resolve: ({ email }) => email }),
    legalForm: t.string({ nullable: true, description: '`SARL`, `SA`, …', resolve: ({ legalForm }) => legalForm }),
    capital: t.field({
      type: 'Centimes',
      nullable: true,
      description: 'Share capital.',
      resolve: ({ capital }) => capital,
    }),
    paymentMode: t.string({
      nullable: true,
      description: 'Means of payment, in words: `Virement bancaire`.',
      resolve: ({ paymentMode }) => paymentMode,
    }),
    paymentMeans: t.field({
      type: PaymentMeansType,
      nullable: true,
      description: 'Means of payment, for programs.',
      resolve: ({ paymentMeans }) => paymentMeans,
    }),
    paymentTermDays: t.int({
      nullable: true,
      description: 'Days from an invoice’s date to its due date. Null: none, unless the request states one.',
      resolve: ({ paymentTermDays }) => paymentTermDays,
    }),
    bankAccount: t.string({
      nullable: true,
      description: 'Bank account for transfers: a RIB, 24 digits.',
      resolve: ({ bankAccount }) => bankAccount,
    }),
    operationDateIsIssueDate: t.boolean({
      description: 'Whether an invoice without a date of operation uses its own date.',
      resolve: ({ operationDateIsIssueDate }) => operationDateIsIssueDate ?? false,
    }),
    exemptionReason: t.string({
      nullable: true,
      description: 'Why lines at 0 % are exempt from VAT.',
      resolve: ({ exemptionReason }) => exemptionReason,
    }),
    documentLanguage: t.field({
      type: DocumentLanguageType,
      nullable: true,
      description: 'Language of printed invoices and mails; null means French.',
      resolve: ({ documentLanguage }) => documentLanguage,
    }),
    logo: t.field({
      type: SellerLogoType,
      nullable: true,
      description: 'Shown at the top of the PDF.',
      resolve: ({ logo }) => logo,
    }),
    missingFields: t.stringList({
      description: 'The mandatory fields that are unknown; empty for a complete profile.',
      resolve: (profile) => missingProfileFields(profile),
    }),
  }),
});

addDocumentFields((t) => ({
  seller: t.field({
    type: SellerProfileType,
    nullable: true,
    description:
      'The seller’s profile at the creation of the invoice. In the test environment, documents complete it with labelled specimen data. Null without a secret key.',
    resolve: ({ seller }, _args, { principal }) => (isMember(principal) ? seller : null),
  }),
}));
