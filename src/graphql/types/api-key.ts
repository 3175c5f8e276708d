import type { ApiKey } from '../../domain/api-key/api-key.ts';
import type { KeyKind } from '../../domain/api-key/key-kinds.ts';
import type { IssuedKey } from '../../domain/api-key/manage-keys.ts';
import { LONGEST_KEY_NAME, MAX_KEYS, MAX_REVOKED_KEYS } from '../../domain/limits.ts';
import { accessOf } from '../access.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../enum-of.ts';
import { payloadOf } from '../payload.ts';
import { EnvironmentType } from './environment.ts';
import { InvalidInputError, LimitReachedError, NotFoundError } from './errors.ts';
import { findableAsNode, NodeInterface } from './node.ts';
import './scalars.ts';

const MEANING: Readonly<Record<KeyKind, string>> = {
  secret: '`sk_…`, for back ends: full access to its environment.',
  publishable: '`pk_…`, for browsers: reads one invoice, together with its client_secret.',
};

const NAME = `What you call the key: one line of at most ${LONGEST_KEY_NAME} characters.`;

const KeyKindType = enumOf('ApiKeyKind', 'The kind of an API key, which determines its access.', MEANING);

const ApiKeyType = builder.objectRef<ApiKey>('ApiKey').implement({
  description: 'An API key. Its token is shown once, at creation.',
  interfaces: [NodeInterface],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Prefix `key_`.' }),
    kind: t.expose('kind', { type: KeyKindType, description: 'Kind of the key.' }),
    environment: t.expose('environment', { type: EnvironmentType, description: 'Environment of the key.' }),
    lastFour: t.exposeString('lastFour', { description: 'Last four characters of the token, for recognition.' }),
    name: t.exposeString('name', { nullable: true, description: 'What you call it; null if it has no name.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of creation.' }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of revocation; null while the key is valid.',
    }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'The minute of its last use, up to five minutes behind; null if no use is noted. Uses before the service noted them are not.',
    }),
    current: t.boolean({
      description: 'Whether this request uses the key.',
      resolve: ({ id }, _args, { principal }) => 'keyId' in principal && principal.keyId === id,
    }),
  }),
});

findableAsNode({
  prefix: 'key',
  type: 'ApiKey',
  find: (id, _clientSecret, { principal, useCases }) => useCases.apiKey(principal, id),
});

builder.queryFields((t) => ({
  apiKeys: t.field({
    type: [ApiKeyType],
    authScopes: accessOf('apiKeys'),
    description: `The keys of the secret key’s tenant and environment, newest first: at most ${MAX_KEYS} valid ones, and the last ${MAX_REVOKED_KEYS} revoked ones.`,
    resolve: (_root, _args, { principal, useCases }) => useCases.apiKeys(principal),
  }),
  apiKey: t.field({
    type: ApiKeyType,
    authScopes: accessOf('apiKey'),
    description: 'The key with this id.',
    args: { id: t.arg.id({ required: true, description: 'Prefix `key_`.' }) },
    resolve: (_root, { id }, { principal, useCases }) => useCases.apiKey(principal, id),
  }),
}));

const issuedKeyPayload = (name: string) =>
  builder.objectRef<IssuedKey>(name).implement({
    description: 'A new key and its token.',
    fields: (t) => ({
      apiKey: t.expose('key', { type: ApiKeyType, description: 'The key.' }),
      token: t.exposeString('token', {
        description:
          'The value of the header `Authorization: Bearer …`. Shown in this answer only: store it as a secret.',
      }),
    }),
  });

builder.mutationFields((t) => ({
  createApiKey: t.field({
    type: issuedKeyPayload('CreateApiKeyPayload'),
    authScopes: accessOf('createApiKey'),
    errors: { types: [InvalidInputError, LimitReachedError] },
    description: `Creates a key in the environment of the calling key; at most ${MAX_KEYS} are valid there. Needs a secret key.`,
    args: {
      kind: t.arg({ type: KeyKindType, required: true, description: 'Kind of the new key.' }),
      name: t.arg.string({ description: NAME }),
    },
    resolve: (_root, { kind, name }, { principal, useCases }) => useCases.createApiKey(principal, kind, name ?? null),
  }),
  renameApiKey: t.field({
    type: payloadOf('renameApiKey', 'apiKey', ApiKeyType, 'The renamed key.'),
    authScopes: accessOf('renameApiKey'),
    errors: { types: [InvalidInputError, NotFoundError] },
    description: 'Gives a key another name. Needs a secret key.',
    args: {
      id: t.arg.id({ required: true, description: 'Prefix `key_`.' }),
      name: t.arg.string({ description: `${NAME} Null: it gets none.` }),
    },
    resolve: (_root, { id, name }, { principal, useCases }) => useCases.renameApiKey(principal, id, name ?? null),
  }),
  rotateApiKey: t.field({
    type: issuedKeyPayload('RotateApiKeyPayload'),
    authScopes: accessOf('rotateApiKey'),
    errors: { types: [InvalidInputError, NotFoundError, LimitReachedError] },
    description:
      'Creates a key of the same kind and name as another one, which stays valid: deploy the new key, then revoke the old one. A revoked key cannot be rotated. Needs a secret key.',
    args: { id: t.arg.id({ required: true, description: 'The key to replace; prefix `key_`.' }) },
    resolve: (_root, { id }, { principal, useCases }) => useCases.rotateApiKey(principal, id),
  }),
  revokeApiKey: t.field({
    type: payloadOf('revokeApiKey', 'apiKey', ApiKeyType, 'The revoked key.'),
    authScopes: accessOf('revokeApiKey'),
    errors: { types: [InvalidInputError, NotFoundError] },
    description:
      'Revokes a key at once and permanently, the calling key included; the last valid secret key only with `evenIfLast`. Streams that it opened end within seconds. Needs a secret key.',
    args: {
      id: t.arg.id({ required: true, description: 'Prefix `key_`.' }),
      evenIfLast: t.arg.boolean({
        required: true,
        defaultValue: false,
        description:
          'Revokes the key even if it is the last valid secret key of the environment; only an operator can create another one then.',
      }),
    },
    resolve: (_root, { id, evenIfLast }, { principal, useCases }) => useCases.revokeApiKey(principal, id, evenIfLast),
  }),
}));
