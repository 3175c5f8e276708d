import { serviceError } from '../../domain/errors.ts';
import { PROFILE_LIMITS as LIMITS, MAX_LOGOS } from '../../domain/limits.ts';
import { PREVIEW_BYTES } from '../../domain/preview.ts';
import { MAX_DECODED_AREA, MAX_LOGO_BYTES, MAX_LOGO_PIXELS } from '../../domain/tenant/logo.ts';
import { LIVE_CONDITIONS, type MissingForLive } from '../../domain/tenant/ports.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { accessOf } from '../access.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../enum-of.ts';
import { payloadOf } from '../payload.ts';
import { SigningCertificateType } from './document-verification.ts';
import { InvalidInputError, LimitReachedError } from './errors.ts';
import { findableAsNode, NodeInterface } from './node.ts';
import { PaymentMeansType } from './payment-means.ts';
import { DocumentLanguageType, SellerProfileType } from './seller-profile.ts';
import './scalars.ts';

const LiveConditionType = enumOf('LiveCondition', 'What live keys need.', LIVE_CONDITIONS);

const MissingForLiveType = builder.objectRef<MissingForLive>('MissingForLive').implement({
  description: 'A condition of live keys that is not met.',
  fields: (t) => ({
    condition: t.expose('condition', { type: LiveConditionType, description: 'Which one.' }),
    text: t.exposeString('text', { description: 'What is missing, and what to do.' }),
  }),
});

/** Maximum size of a logo of 256 KiB in base64. */
const LOGO_BYTES = 360_000;
const TenantType = builder.objectRef<Tenant>('Tenant').implement({
  description: 'The company that issues invoices. Both environments share its profile.',
  interfaces: [NodeInterface],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Prefix `ten_`.' }),
    name: t.exposeString('name', { description: 'Name in this service; invoices state `seller.legalName`.' }),
    seller: t.expose('profile', { type: SellerProfileType, description: 'The seller’s data on its new invoices.' }),
    logo: t.string({
      nullable: true,
      description: 'The current logo as a data URL, the form that updateSellerProfile accepts.',
      resolve: async (tenant, _args, { principal, useCases, meter }) => {
        await meter?.hold(LOGO_BYTES);
        return useCases.tenantLogo(principal, tenant);
      },
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of creation.' }),
    signingCertificate: t.field({
      type: SigningCertificateType,
      nullable: true,
      description: 'The certificate that signs the tenant’s new documents; null if no worker has told of it for a day.',
      resolve: (_tenant, _args, { principal, useCases }) => useCases.tenantCertificate(principal),
    }),
    missingForLive: t.field({
      type: [MissingForLiveType],
      description: 'What live keys still need; empty if they can be made.',
      resolve: async (_tenant, _args, { principal, useCases }) => [...(await useCases.missingForLive(principal))],
    }),
  }),
});

findableAsNode({
  prefix: 'ten',
  type: 'Tenant',
  async find(id, _clientSecret, { principal, useCases }) {
    const tenant = useCases.tenant(principal);
    if (tenant.id === id) return tenant;
    throw serviceError('resource_not_found', `There is no tenant '${id.slice(0, 80)}' for this key.`, 'id');
  },
});

builder.queryField('tenant', (t) =>
  t.field({
    type: TenantType,
    authScopes: accessOf('tenant'),
    description: 'The tenant of the secret key.',
    resolve: (_root, _args, { principal, useCases }) => useCases.tenant(principal),
  }),
);

const SellerAddressInput = builder.inputType('SellerAddressInput', {
  description: 'Address of the seller.',
  fields: (t) => ({
    street: t.string({ required: true, description: `Street and number, at most ${LIMITS.street} characters.` }),
    city: t.string({ required: true, description: `At most ${LIMITS.city} characters.` }),
    postalCode: t.string({ description: `At most ${LIMITS.postalCode} characters.` }),
  }),
});

const SellerProfileInput = builder.inputType('SellerProfileInput', {
  description: 'Changes of a profile; omitted fields stay unchanged.',
  fields: (t) => ({
    legalName: t.string({ description: `Raison sociale, at most ${LIMITS.legalName} characters.` }),
    ice: t.string({ description: 'Exactly 15 digits.' }),
    taxId: t.string({ description: `Identifiant fiscal, at most ${LIMITS.taxId} characters.` }),
    tradeRegister: t.string({ description: 'Registre du commerce with the town of its court: `Casablanca 123456`.' }),
    professionalTax: t.string({
      description: `Taxe professionnelle (patente), at most ${LIMITS.professionalTax} characters.`,
    }),
    cnss: t.string({ description: `CNSS affiliation, at most ${LIMITS.cnss} characters.` }),
    address: t.field({ type: SellerAddressInput, description: 'Replaces the whole address.' }),
    email: t.string({ description: 'E-mail address, used as Reply-To of mails to customers.' }),
    legalForm: t.string({ description: `\`SARL\`, \`SA\`, …; at most ${LIMITS.legalForm} characters.` }),
    capital: t.field({ type: 'Centimes', description: 'Share capital, zero or more.' }),
    paymentMode: t.string({ description: 'Means of payment, in words: `Virement bancaire`.' }),
    paymentMeans: t.field({ type: PaymentMeansType, description: 'Means of payment, for programs; null removes it.' }),
    paymentTermDays: t.int({
      description: `Days from an invoice’s date to its due date, 0 to ${LIMITS.paymentTermDays}; null: none, unless the request states one.`,
    }),
    bankAccount: t.string({
      description: 'Bank account for transfers: a RIB, 24 digits with a valid check key; null removes it.',
    }),
    operationDateIsIssueDate: t.boolean({
      description: 'Whether an invoice without a date of operation uses its own date.',
    }),
    exemptionReason: t.string({ description: 'Why lines at 0 % are exempt from VAT; null removes it.' }),
    documentLanguage: t.field({ type: DocumentLanguageType, description: 'Language of printed invoices and mails.' }),
    logo: t.string({
      description: `A PNG or JPEG of at most ${MAX_LOGO_BYTES / 1024} KiB and ${MAX_LOGO_PIXELS} pixels a side, ${MAX_DECODED_AREA / 1000},000 in all unless it is a JPEG in YCbCr or grey that Exif does not turn, as a data URL: \`data:image/png;base64,…\`; null removes it. A tenant may upload at most ${MAX_LOGOS} different logos.`,
    }),
  }),
});

builder.queryField('sellerProfilePreview', (t) =>
  t.string({
    authScopes: accessOf('sellerProfilePreview'),
    description:
      'The PDF of a sample invoice as it would look after a change of the profile, as a data URL. Nothing is stored. One at a time.',
    args: { input: t.arg({ type: SellerProfileInput, required: true, description: 'The changes.' }) },
    resolve: async (_root, { input }, { principal, useCases, meter }) => {
      await meter?.hold(PREVIEW_BYTES);
      return useCases.sellerProfilePreview(principal, input);
    },
  }),
);

builder.mutationFields((t) => ({
  updateSellerProfile: t.field({
    type: payloadOf('updateSellerProfile', 'tenant', TenantType, 'The tenant with its changed profile.'),
    authScopes: accessOf('updateSellerProfile'),
    errors: { types: [InvalidInputError, LimitReachedError] },
    description:
      'Changes the seller’s data on new invoices; existing invoices are unchanged. Needs a secret key: a live one if the tenant has any.',
    args: { input: t.arg({ type: SellerProfileInput, required: true, description: 'The changes.' }) },
    resolve: (_root, { input }, { principal, useCases }) => useCases.updateSellerProfile(principal, input),
  }),
}));
