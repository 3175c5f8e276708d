import type { ApiKey } from '../domain/api-key/api-key.ts';
import { KEY_KINDS, type KeyKind } from '../domain/api-key/key-kinds.ts';
import type { IssuedKey } from '../domain/api-key/manage-keys.ts';
import { ENVIRONMENTS, type Environment } from '../domain/tenant/tenant.ts';
import { administer } from './administer.ts';
import type { Command, CommandContext, ParsedArguments } from './command.ts';
import { columns, harmless, minute } from './terminal.ts';

const tenant = { value: 'TENANT', required: true, description: "The tenant's id: ten_…" } as const;

export const createKey: Command = {
  name: 'keys create',
  summary: 'Creates an API key and shows it once',
  positionals: [],
  options: {
    tenant,
    environment: {
      value: 'ENVIRONMENT',
      required: true,
      choices: ENVIRONMENTS,
      description: 'test uses a mock tax authority; live transmits to the real one (see docs/api/going-live.md)',
    },
    kind: {
      value: 'KIND',
      required: true,
      choices: KEY_KINDS,
      description: 'secret is for back ends only; publishable is for browsers',
    },
    name: { value: 'NAME', description: 'What people call it' },
    json: { description: 'Print an object with id and key' },
  },
  async run(input, context) {
    const [kind, environment] = [input.get('kind') as KeyKind, input.get('environment') as Environment];
    const issued = await administer(context, ({ operate }) =>
      operate.createKey(null, input.get('tenant'), kind, environment, input.find('name')),
    );
    show(issued, input, context);
    return 0;
  },
};

export const listKeys: Command = {
  name: 'keys list',
  summary: "Lists a tenant's keys, including revoked ones",
  positionals: [],
  options: { tenant, json: { description: 'Print a list of objects' } },
  async run(input, context) {
    const keys = await administer(context, ({ manageKeys }) => manageKeys.list(input.get('tenant')));
    const { terminal } = context;
    if (input.has('json')) terminal.print(JSON.stringify(keys.map(objectOf)));
    else if (keys.length === 0) terminal.print('The tenant has no keys.');
    else terminal.print(columns([['ID', 'NAME', 'KEY', 'CREATED', 'LAST USE', 'REVOKED'], ...keys.map(rowOf)]));
    return 0;
  },
};

export const renameKey: Command = {
  name: 'keys rename',
  summary: 'Gives a key another name',
  positionals: ['KEY_ID', 'NAME'],
  options: {},
  async run(input, context) {
    const keyId = input.get('KEY_ID');
    const { name } = await administer(context, ({ operate }) => operate.renameKey(null, keyId, input.get('NAME')));
    context.terminal.print(`Key ${keyId} is called ${harmless(name ?? '')}.`);
    return 0;
  },
};

export const revokeKey: Command = {
  name: 'keys revoke',
  summary: 'Revokes a key at once and permanently',
  positionals: ['KEY_ID'],
  options: {},
  async run(input, context) {
    const keyId = input.get('KEY_ID');
    await administer(context, ({ operate }) => operate.revokeKey(null, keyId));
    context.terminal.print(`Key ${keyId} is revoked.`);
    return 0;
  },
};

export const rotateKey: Command = {
  name: 'keys rotate',
  summary: 'Creates a new key of the same tenant, environment and kind',
  positionals: ['KEY_ID'],
  options: { json: { description: 'Print an object with id and key' } },
  details: 'The old key stays valid: deploy the new key, then revoke the old one. A revoked key cannot be rotated.',
  async run(input, context) {
    const old = input.get('KEY_ID');
    const issued = await administer(context, ({ operate }) => operate.rotateKey(null, old));
    show(issued, input, context);
    if (!input.has('json')) {
      context.terminal.print(
        `The old key is still valid. After deploying the new key: npm run -s cli -- keys revoke ${old}`,
      );
    }
    return 0;
  },
};

function show({ key, token }: IssuedKey, input: ParsedArguments, { terminal }: CommandContext): void {
  if (input.has('json')) {
    const { id, kind, environment, createdAt } = key;
    terminal.print(JSON.stringify({ id, key: token, kind, environment, created_at: createdAt }));
    return;
  }
  terminal.print(columns([['id', key.id], ['key', token]])); // biome-ignore format: a table
  terminal.print('The key is shown only once: store it in a safe place.');
}

function objectOf({ id, name, kind, environment, lastFour, createdAt, revokedAt, lastUsedAt }: ApiKey) {
  const times = { created_at: createdAt, last_used_at: lastUsedAt, revoked_at: revokedAt };
  return { id, name, kind, environment, last_four: lastFour, ...times };
}

function rowOf({ id, name, kind, environment, lastFour, createdAt, revokedAt, lastUsedAt }: ApiKey): string[] {
  const start = kind === 'secret' ? 'sk' : 'pk';
  const times = [createdAt, lastUsedAt, revokedAt].map((at) => (at === null ? '-' : minute(at)));
  return [id, harmless(name ?? '-'), `${start}_${environment}_…${lastFour}`, ...times];
}
