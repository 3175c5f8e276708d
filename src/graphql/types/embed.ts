import type { ArgBuilder } from '@pothos/core';
import { EMBED_FONTS } from '../../domain/embedding/appearance.ts';
import { EMBED_SECONDS, type Embed, MOST_ORIGINS } from '../../domain/embedding/create-embed.ts';
import { accessOf } from '../access.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../enum-of.ts';
import { payloadOf, type Types } from '../payload.ts';
import { InvalidInputError, NotFoundError } from './errors.ts';
import { DocumentLanguageType } from './seller-profile.ts';

const EmbedType = builder.objectRef<Embed>('Embed').implement({
  description: 'A page for an `iframe` of the tenant’s own product. Nothing ends it before its time.',
  fields: (t) => ({
    token: t.exposeString('token', {
      description: 'Opens only this. Also a credential (`Authorization: Bearer …`) for reading the invoice.',
    }),
    url: t.exposeString('url', {
      description: 'The address for the `iframe`, with the token in its fragment, which browsers do not send.',
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When the token ends. Make another one then.' }),
  }),
});

const EmbedFontType = enumOf('EmbedFont', 'A font of a page within another product.', EMBED_FONTS);

const { least, usual, most } = EMBED_SECONDS;
const ORIGINS = `The sites whose pages may frame it, 1 to ${MOST_ORIGINS}: \`https://shop.example.ma\`. In test also \`http://localhost\` with any port.`;
const SECONDS = `How long the token is valid, ${least} to ${most} seconds.`;

const pageArguments = (arg: ArgBuilder<Types>) => ({
  origins: arg.stringList({ required: true, description: ORIGINS }),
  seconds: arg.int({ required: true, defaultValue: usual, description: SECONDS }),
  language: arg({
    type: DocumentLanguageType,
    description: 'The language of the page. Default: the language of the reader’s browser.',
  }),
  font: arg({ type: EmbedFontType, description: 'The font of the page. Default: that of all pages of this service.' }),
  accent: arg.string({
    description:
      'The colour of rules, buttons and a status under way: `#0b5d45`. The page makes it darker or lighter where it would be hard to read.',
  }),
});

builder.mutationFields((t) => ({
  createInvoiceEmbed: t.field({
    type: payloadOf('createInvoiceEmbed', 'embed', EmbedType, 'The page.'),
    authScopes: accessOf('createInvoiceEmbed'),
    errors: { types: [InvalidInputError, NotFoundError] },
    description: 'Makes a page with the live status of an invoice, for its customer. Needs a secret key.',
    args: {
      id: t.arg.id({ required: true, description: 'The invoice; prefix `inv_`.' }),
      ...pageArguments(t.arg),
    },
    resolve: (_root, input, { principal, useCases }) => useCases.createInvoiceEmbed(principal, input),
  }),
  createDeliveryLogEmbed: t.field({
    type: payloadOf('createDeliveryLogEmbed', 'embed', EmbedType, 'The page.'),
    authScopes: accessOf('createDeliveryLogEmbed'),
    errors: { types: [InvalidInputError, NotFoundError] },
    description:
      'Makes a page with the deliveries to a webhook endpoint and their attempts, without URLs, headers and bodies. Needs a secret key.',
    args: {
      endpointId: t.arg.id({ required: true, description: 'The endpoint; prefix `we_`.' }),
      ...pageArguments(t.arg),
    },
    resolve: (_root, { endpointId, ...input }, { principal, useCases }) =>
      useCases.createDeliveryLogEmbed(principal, { id: endpointId, ...input }),
  }),
}));
