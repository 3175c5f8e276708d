import type { ApiKey, KeyKind } from '../../domain/api-key/api-key.ts';
import type { IssuedKey } from '../../domain/api-key/manage-keys.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../enum-of.ts';
import { EnvironmentType } from './environment.ts';
import { InvalidInputError, LimitReachedError, NotFoundError } from './errors.ts';
import { findableAsNode, NodeInterface } from './node.ts';
import './scalars.ts';

const MEANING: Readonly<Record<KeyKind, string>> = {
  secret: '`sk_…`, for back ends: reads and writes all of its environment.',
  publishable: '`pk_…`, for browsers: reads an invoice by its client_secret.',
};

const KeyKindType = enumOf('ApiKeyKind', 'What a key may do.', MEANING);

const ApiKeyType = builder.objectRef<ApiKey>('ApiKey').implement({
  description: 'A key of the API. Its token was shown once, when it was created.',
  interfaces: [NodeInterface],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Prefix `key_`.' }),
    kind: t.expose('kind', { type: KeyKindType, description: 'What it may do.' }),
    environment: t.expose('environment', { type: EnvironmentType, description: 'What it opens.' }),
    lastFour: t.exposeString('lastFour', { description: 'The last four characters of its token, to tell it by.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was revoked; null while it is valid.',
    }),
    current: t.boolean({
      description: 'Whether it is the key that asks.',
      resolve: ({ id }, _args, { principal }) => principal.kind !== 'client' && principal.keyId === id,
    }),
  }),
});

findableAsNode({
  prefix: 'key',
  type: 'ApiKey',
  find: (id, _clientSecret, { principal, useCases }) => useCases.apiKeys.find(principal, id),
});

builder.queryFields((t) => ({
  apiKeys: t.field({
    type: [ApiKeyType],
    extensions: { most: 100 },
    authScopes: { secretKey: true },
    description:
      'The keys of the secret key’s tenant and environment, newest first: at most 50 valid ones, and the last 50 that were revoked.',
    resolve: (_root, _args, { principal, useCases }) => useCases.apiKeys.list(principal),
  }),
  apiKey: t.field({
    type: ApiKeyType,
    authScopes: { secretKey: true },
    description: 'One key.',
    args: { id: t.arg.id({ required: true, description: 'Prefix `key_`.' }) },
    resolve: (_root, { id }, { principal, useCases }) => useCases.apiKeys.find(principal, id),
  }),
}));

const IssuedKeyType = builder.objectRef<IssuedKey>('IssuedApiKey').implement({
  description: 'A new key, with its token.',
  fields: (t) => ({
    apiKey: t.expose('key', { type: ApiKeyType, description: 'The key.' }),
    token: t.exposeString('token', {
      description:
        'What goes into the header `Authorization: Bearer …`. Shown here only: keep it where secrets are kept.',
    }),
  }),
});

builder.mutationFields((t) => ({
  createApiKey: t.field({
    type: IssuedKeyType,
    authScopes: { secretKey: true },
    errors: { types: [InvalidInputError, LimitReachedError] },
    description: 'Makes a key of the calling key’s environment; 50 valid ones at most. Needs a secret key.',
    args: { kind: t.arg({ type: KeyKindType, required: true, description: 'What it may do.' }) },
    resolve: (_root, { kind }, { principal, useCases }) => useCases.apiKeys.create(principal, kind),
  }),
  rotateApiKey: t.field({
    type: IssuedKeyType,
    authScopes: { secretKey: true },
    errors: { types: [InvalidInputError, NotFoundError, LimitReachedError] },
    description:
      'Makes a key of the same kind as another one, which stays valid: deploy the new key, then revoke the old one. A revoked key is refused. Needs a secret key.',
    args: { id: t.arg.id({ required: true, description: 'Of the key to be replaced; prefix `key_`.' }) },
    resolve: (_root, { id }, { principal, useCases }) => useCases.apiKeys.rotate(principal, id),
  }),
  revokeApiKey: t.field({
    type: ApiKeyType,
    authScopes: { secretKey: true },
    errors: { types: [InvalidInputError, NotFoundError] },
    description:
      'Makes a key invalid at once and for good, the calling one too; the last valid secret key only on demand. Streams that it opened end within seconds. Needs a secret key.',
    args: {
      id: t.arg.id({ required: true, description: 'Prefix `key_`.' }),
      evenIfLast: t.arg.boolean({
        required: true,
        defaultValue: false,
        description:
          'Also when no secret key of the environment is left then, so that only an operator can make another.',
      }),
    },
    resolve: (_root, { id, evenIfLast }, { principal, useCases }) => useCases.apiKeys.revoke(principal, id, evenIfLast),
  }),
}));
