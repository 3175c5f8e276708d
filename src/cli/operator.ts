import { resetOperator } from '../domain/installation/first-start.ts';
import { administer } from './administer.ts';
import type { Command } from './command.ts';
import { columns } from './terminal.ts';

export const operatorReset: Command = {
  name: 'operator reset',
  summary: 'Makes a new password for the job dashboard and shows it, this once',
  positionals: [],
  options: { json: { description: 'Print an object with user and password' } },
  details: 'The password before is void at once.',
  async run(input, context) {
    const password = await administer(context, ({ installation }) => resetOperator(installation));
    const { terminal } = context;
    if (input.has('json')) terminal.print(JSON.stringify({ user: 'operator', password }));
    else terminal.print(columns([['user', 'operator'], ['password', password]])); // biome-ignore format: a table
    return 0;
  },
};

export const acceptMasterKey: Command = {
  name: 'operator accept-master-key',
  summary: 'Lets the service start with another master key, where that of the data is lost for good',
  positionals: [],
  options: {},
  details: `Stop all processes of the service first: the next start takes its key for the data's. What depends on the key before is void: documents' URLs and client secrets that
were given out, the signing secrets of webhook endpoints (rotate them, or make the endpoints anew).`,
  async run(_input, context) {
    await administer(context, ({ installation }) => installation.forgetMasterKeyMark());
    context.terminal.print("The next start takes its master key for the data's.");
    return 0;
  },
};
