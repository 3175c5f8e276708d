import type { DocumentLanguage } from '../../domain/document-language.ts';
import { missingProfileFields, type SellerProfile } from '../../domain/tenant/tenant.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../enum-of.ts';
import { InvoiceType } from './invoice.ts';
import { PaymentMeansType } from './payment-means.ts';

const LANGUAGE_NAMES: Readonly<Record<DocumentLanguage, string>> = { fr: 'French.', ar: 'Arabic.', en: 'English.' };

export const DocumentLanguageType = enumOf(
  'DocumentLanguage',
  'A language of the printed invoice’s own words and of mails.',
  LANGUAGE_NAMES,
);

const SellerAddressType = builder.objectRef<SellerProfile['address']>('SellerAddress').implement({
  description: 'Where the seller is established.',
  fields: (t) => ({
    street: t.exposeString('street', { description: 'Street and number.' }),
    city: t.exposeString('city', { description: 'City.' }),
    postalCode: t.exposeString('postalCode', { nullable: true, description: 'Postal code.' }),
  }),
});

const SellerLogoType = builder.objectRef<NonNullable<SellerProfile['logo']>>('SellerLogo').implement({
  description: 'The logo at the head of the PDF.',
  fields: (t) => ({
    sha256: t.exposeString('sha256', { description: 'Of its octets, lower-case hexadecimal.' }),
    contentType: t.exposeString('contentType', { description: '`image/png` or `image/jpeg`.' }),
    width: t.exposeInt('width', { description: 'In pixels.' }),
    height: t.exposeInt('height', { description: 'In pixels.' }),
  }),
});

/** Any part of a profile: what is not known is null. */
export const SellerProfileType = builder.objectRef<Partial<SellerProfile>>('SellerProfile').implement({
  description:
    'What the law wants to know of the seller, and how its documents look. What is not known is null; live keys need all that `missingFields` may name.',
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
      description: 'Registre du commerce, with its court’s town: `Casablanca 123456`.',
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
      description: 'Where it is established.',
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
      description: 'How invoices are paid, in words: `Virement bancaire`.',
      resolve: ({ paymentMode }) => paymentMode,
    }),
    paymentMeans: t.field({
      type: PaymentMeansType,
      nullable: true,
      description: 'The same for programs.',
      resolve: ({ paymentMeans }) => paymentMeans,
    }),
    paymentTermDays: t.int({
      nullable: true,
      description: 'Days from an invoice’s date to its due date; null: it states none unless it is given one.',
      resolve: ({ paymentTermDays }) => paymentTermDays,
    }),
    bankAccount: t.string({
      nullable: true,
      description: 'Where transfers are to go: a RIB, 24 digits.',
      resolve: ({ bankAccount }) => bankAccount,
    }),
    operationDateIsIssueDate: t.boolean({
      description: 'Whether the date of the operation is that of the invoice, where an invoice is given none.',
      resolve: ({ operationDateIsIssueDate }) => operationDateIsIssueDate ?? false,
    }),
    exemptionReason: t.string({
      nullable: true,
      description: 'Why lines at 0 % bear no VAT.',
      resolve: ({ exemptionReason }) => exemptionReason,
    }),
    documentLanguage: t.field({
      type: DocumentLanguageType,
      nullable: true,
      description: 'Of the printed invoice and of mails; French where it is null.',
      resolve: ({ documentLanguage }) => documentLanguage,
    }),
    logo: t.field({
      type: SellerLogoType,
      nullable: true,
      description: 'Shown at the head of the PDF.',
      resolve: ({ logo }) => logo,
    }),
    missingFields: t.stringList({
      extensions: { most: 30 },
      description: 'The mandatory fields that are not known; empty for a complete profile.',
      resolve: (profile) => missingProfileFields(profile),
    }),
  }),
});

builder.objectField(InvoiceType, 'seller', (t) =>
  t.field({
    type: SellerProfileType,
    nullable: true,
    description:
      'The seller as known when the invoice was created. In the test environment a labelled specimen completes it in the documents. Shown to a secret key only.',
    resolve: ({ seller }, _args, { principal }) => (principal.kind === 'secret' ? seller : null),
  }),
);
