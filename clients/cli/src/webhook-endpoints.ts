import { type Command, type Option, type ParsedArguments, UsageError } from '../../../src/cli/command.ts';
import { columns, harmless } from '../../../src/cli/terminal.ts';
import type { CreateWebhookEndpoint, WebhookEndpoint } from '../../typescript/src/index.ts';
import { clientOf } from './connection.ts';

const JSON_OPTION = { description: 'Print an object' } as const satisfies Option;
const URL = { value: 'ADDRESS', description: 'The https:// address that receives events' } as const satisfies Option;
const EVENTS = {
  value: 'TYPE,…',
  description: 'Types of events: invoice.accepted,invoice.rejected',
} as const satisfies Option;

type Events = CreateWebhookEndpoint['events'];

const create: Command = {
  name: 'webhook-endpoints create',
  summary: 'Creates an endpoint, and shows its secret once',
  positionals: [],
  options: {
    address: { ...URL, required: true },
    events: { ...EVENTS, required: true },
    description: { value: 'TEXT', description: 'What people call it' },
    json: JSON_OPTION,
  },
  async run(input, context) {
    const { webhookEndpoints } = await clientOf(input, context);
    const description = input.find('description');
    const made = await webhookEndpoints.create({
      url: input.get('address'),
      events: eventsOf(input) ?? [],
      ...(description !== null && { description }),
    });
    context.terminal.print(
      input.has('json') ? JSON.stringify(made) : `${rowsOf([made])}\nsecret  ${made.secret}  (it is shown only now)`,
    );
    return 0;
  },
};

const list: Command = {
  name: 'webhook-endpoints list',
  summary: 'Lists the endpoints',
  positionals: [],
  options: { json: { description: 'Print an array' } },
  async run(input, context) {
    const endpoints = await (await clientOf(input, context)).webhookEndpoints.list();
    if (input.has('json')) context.terminal.print(JSON.stringify(endpoints));
    else if (endpoints.length > 0) context.terminal.print(rowsOf(endpoints));
    return 0;
  },
};

const update: Command = {
  name: 'webhook-endpoints update',
  summary: 'Changes an endpoint, turns it off or on',
  positionals: ['ENDPOINT_ID'],
  options: {
    address: URL,
    events: EVENTS,
    description: { value: 'TEXT', description: 'What people call it' },
    active: { value: 'STATE', description: 'Whether it receives events', choices: ['true', 'false'] },
    json: JSON_OPTION,
  },
  async run(input, context) {
    const url = input.find('address');
    const events = eventsOf(input);
    const description = input.find('description');
    const active = input.find('active');
    const change = {
      ...(url !== null && { url }),
      ...(events && { events }),
      ...(description !== null && { description }),
      ...(active !== null && { active: active === 'true' }),
    };
    if (Object.keys(change).length === 0) throw new UsageError('nothing is to be changed');
    const { webhookEndpoints } = await clientOf(input, context);
    const changed = await webhookEndpoints.update(input.get('ENDPOINT_ID'), change);
    context.terminal.print(input.has('json') ? JSON.stringify(changed) : rowsOf([changed]));
    return 0;
  },
};

const remove: Command = {
  name: 'webhook-endpoints delete',
  summary: 'Deletes an endpoint; its pending deliveries are cancelled',
  positionals: ['ENDPOINT_ID'],
  options: { json: JSON_OPTION },
  async run(input, context) {
    const gone = await (await clientOf(input, context)).webhookEndpoints.delete(input.get('ENDPOINT_ID'));
    context.terminal.print(input.has('json') ? JSON.stringify(gone) : `${gone.id} is deleted.`);
    return 0;
  },
};

export const ENDPOINT_COMMANDS: readonly Command[] = [create, list, update, remove];

function eventsOf(input: ParsedArguments): Events | null {
  // The service refuses unknown types by name.
  return (input.find('events')?.split(',') as Events | undefined) ?? null;
}

function rowsOf(endpoints: readonly WebhookEndpoint[]): string {
  return columns(
    endpoints.map(({ id, url, events, active, description }) => [
      id,
      active ? 'active' : 'inactive',
      harmless(url),
      events.join(','),
      harmless(description ?? ''),
    ]),
  );
}
