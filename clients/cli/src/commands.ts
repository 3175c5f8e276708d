import type { Command } from '../../../src/cli/command.ts';
import { importFile } from '../../../src/cli/imports/import.ts';
import { listen } from '../../../src/cli/webhooks/listen.ts';
import { trigger } from '../../../src/cli/webhooks/trigger.ts';
import manifest from '../package.json' with { type: 'json' };
import { completionOf } from './completion.ts';
import { CONNECTION_OPTIONS, withProfile } from './connection.ts';
import { CORRECTION_COMMANDS } from './corrections.ts';
import { doctor } from './doctor.ts';
import { answering } from './failures.ts';
import { INVOICE_COMMANDS } from './invoices.ts';
import { login, logout, profiles } from './login.ts';
import { mcpOf } from './mcp-command.ts';
import { verifyDocument, verifyWebhook } from './verify.ts';
import { ENDPOINT_COMMANDS } from './webhook-endpoints.ts';

/** The commands that call the service. Those of the operators' command line are the same here. */
const CALLING: readonly Command[] = [
  ...INVOICE_COMMANDS,
  ...CORRECTION_COMMANDS,
  importFile,
  ...ENDPOINT_COMMANDS,
  listen,
  trigger,
  verifyDocument,
  doctor,
  mcpOf(manifest.version),
];

/** The text of `--version`. */
export const VERSION = `fatoura ${manifest.version}`;

const OWN: readonly Command[] = [login, logout, profiles, verifyWebhook, ...CALLING.map(connected)].map(answering);

/** Every command, in the order of the help. */
export const COMMANDS: readonly Command[] = [...OWN, completionOf(OWN)];

/** Lets a command find address and key in a profile too. */
function connected(command: Command): Command {
  return {
    ...command,
    options: { ...command.options, ...CONNECTION_OPTIONS },
    run: (input, context) => command.run(input, withProfile(context, input)),
  };
}
