import { resetOperator } from '../domain/installation/first-start.ts';
import { administer } from './administer.ts';
import type { Command } from './command.ts';
import { columns } from './terminal.ts';

export const operatorReset: Command = {
  name: 'operator reset',
  summary: 'Sets a new password for the job dashboard and shows it once',
  positionals: [],
  options: { json: { description: 'Print an object with user and password' } },
  details: 'The previous password becomes invalid at once.',
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
  summary: "Allows a start with a new master key after the data's key is lost",
  positionals: [],
  options: {},
  details: `Stop all processes of the service first. The next start adopts its own master key for the data. Everything that depends on the
keys that the lost one sealed becomes invalid: document URLs and client secrets that were given out, sessions, codes of authenticators,
and the signing secrets of webhook endpoints (rotate them, or create the endpoints again). If the lost key is found, give it as
MASTER_KEY_PREVIOUS and run master-key rotate: all of it is valid again.`,
  async run(_input, context) {
    await administer(context, ({ keyRing }) => keyRing.forgetMaster());
    context.terminal.print('The next start adopts its master key for the data.');
    return 0;
  },
};
