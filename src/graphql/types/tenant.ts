import { serviceError } from '../../domain/errors.ts';
import { PROFILE_LIMITS as LIMITS, MAX_LOGOS } from '../../domain/limits.ts';
import { MAX_LOGO_BYTES, MAX_LOGO_PIXELS } from '../../domain/tenant/logo.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { builder } from '../builder.ts';
import { payloadOf } from '../payload.ts';
import { InvalidInputError, LimitReachedError } from './errors.ts';
import { findableAsNode, NodeInterface } from './node.ts';
import { PaymentMeansType } from './payment-means.ts';
import { DocumentLanguageType, SellerProfileType } from './seller-profile.ts';
import './scalars.ts';

const TenantType = builder.objectRef<Tenant>('Tenant').implement({
  description: 'The company that issues invoices. Its profile is that of both environments.',
  interfaces: [NodeInterface],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Prefix `ten_`.' }),
    name: t.exposeString('name', { description: 'How it is called here; invoices state `seller.legalName`.' }),
    seller: t.expose('profile', { type: SellerProfileType, description: 'What its new invoices state of the seller.' }),
    logo: t.string({
      nullable: true,
      // 256 KiB in base64.
      extensions: { bytes: 360_000, reads: 360_000 },
      description: 'The present logo as a data URL, as updateSellerProfile takes it.',
      resolve: (tenant, _args, { principal, useCases }) => useCases.sellerProfile.logo(principal, tenant),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
  }),
});

findableAsNode({
  prefix: 'ten',
  type: 'Tenant',
  async find(id, _clientSecret, { principal, useCases }) {
    const tenant = useCases.sellerProfile.read(principal);
    if (tenant.id === id) return tenant;
    throw serviceError('resource_not_found', `There is no tenant '${id.slice(0, 80)}' for this key.`, 'id');
  },
});

builder.queryField('tenant', (t) =>
  t.field({
    type: TenantType,
    authScopes: { secretKey: true },
    description: 'The secret key’s own tenant.',
    resolve: (_root, _args, { principal, useCases }) => useCases.sellerProfile.read(principal),
  }),
);

const SellerAddressInput = builder.inputType('SellerAddressInput', {
  description: 'Where the seller is established.',
  fields: (t) => ({
    street: t.string({ required: true, description: `Street and number, at most ${LIMITS.street} characters.` }),
    city: t.string({ required: true, description: `At most ${LIMITS.city} characters.` }),
    postalCode: t.string({ description: `At most ${LIMITS.postalCode} characters.` }),
  }),
});

const SellerProfileInput = builder.inputType('SellerProfileInput', {
  description: 'What to change of a profile; what is not given stays as it is.',
  fields: (t) => ({
    legalName: t.string({ description: `Raison sociale, at most ${LIMITS.legalName} characters.` }),
    ice: t.string({ description: 'Exactly 15 digits.' }),
    taxId: t.string({ description: `Identifiant fiscal, at most ${LIMITS.taxId} characters.` }),
    tradeRegister: t.string({ description: 'Registre du commerce with its court’s town: `Casablanca 123456`.' }),
    professionalTax: t.string({
      description: `Taxe professionnelle (patente), at most ${LIMITS.professionalTax} characters.`,
    }),
    cnss: t.string({ description: `CNSS affiliation, at most ${LIMITS.cnss} characters.` }),
    address: t.field({ type: SellerAddressInput, description: 'As a whole.' }),
    email: t.string({ description: 'E-mail address: customers’ answers go there.' }),
    legalForm: t.string({ description: `\`SARL\`, \`SA\`, …; at most ${LIMITS.legalForm} characters.` }),
    capital: t.field({ type: 'Centimes', description: 'Share capital, zero or more.' }),
    paymentMode: t.string({ description: 'How invoices are paid: `Virement bancaire`.' }),
    paymentMeans: t.field({ type: PaymentMeansType, description: 'The same for programs; null removes it.' }),
    paymentTermDays: t.int({
      description: `Days from an invoice’s date to its due date, 0 to ${LIMITS.paymentTermDays}; null: none unless an invoice is given one.`,
    }),
    bankAccount: t.string({
      description: 'Where transfers are to go: a RIB, 24 digits, with its check key; null removes it.',
    }),
    operationDateIsIssueDate: t.boolean({
      description: 'Whether the date of the operation is that of the invoice, where an invoice is given none.',
    }),
    exemptionReason: t.string({ description: 'Why lines at 0 % bear no VAT; null removes it.' }),
    documentLanguage: t.field({ type: DocumentLanguageType, description: 'Of the printed invoice and of mails.' }),
    logo: t.string({
      description: `A PNG or JPEG of at most ${MAX_LOGO_BYTES / 1024} KiB and ${MAX_LOGO_PIXELS} pixels a side, as a data URL: \`data:image/png;base64,…\`; null removes it. At most ${MAX_LOGOS} different ones in all.`,
    }),
  }),
});

builder.mutationFields((t) => ({
  updateSellerProfile: t.field({
    type: payloadOf('updateSellerProfile', 'tenant', TenantType, 'The tenant with its profile as it is now.'),
    authScopes: { secretKey: true },
    errors: { types: [InvalidInputError, LimitReachedError] },
    description:
      'Changes what new invoices state of the seller; those that exist stay as they are. Needs a secret key: a live one while there is any.',
    args: { input: t.arg({ type: SellerProfileInput, required: true, description: 'What to change.' }) },
    resolve: (_root, { input }, { principal, useCases }) => useCases.sellerProfile.update(principal, input),
  }),
}));
