import { type Command, InputError } from '../../../src/cli/command.ts';
import { creditInvoiceCommand, replaceInvoiceCommand } from '../../../src/cli/corrections.ts';
import { importFile } from '../../../src/cli/imports/import.ts';
import { listen } from '../../../src/cli/webhooks/listen.ts';
import { trigger } from '../../../src/cli/webhooks/trigger.ts';
import { ApiError, NotFoundError } from '../../typescript/src/index.ts';
import manifest from '../package.json' with { type: 'json' };
import { completionOf } from './completion.ts';
import { CONNECTION_OPTIONS, withProfile } from './connection.ts';
import { doctor } from './doctor.ts';
import { INVOICE_COMMANDS } from './invoices.ts';
import { login, logout, profiles } from './login.ts';
import { mcpOf } from './mcp-command.ts';
import { verifyDocument, verifyWebhook } from './verify.ts';
import { ENDPOINT_COMMANDS } from './webhook-endpoints.ts';

/** The commands that call the service. Those of the operators' command line are the same here. */
const CALLING: readonly Command[] = [
  ...INVOICE_COMMANDS,
  creditInvoiceCommand,
  replaceInvoiceCommand,
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

/** Says what the service says of a refused request, with --json as an object on standard output. */
function answering(command: Command): Command {
  return {
    ...command,
    async run(input, context) {
      try {
        return await command.run(input, context);
      } catch (error) {
        if (input.has('json') && !(error instanceof InputError)) {
          const { message } = error as Error;
          const { code = null, param = null, status = null, requestId = null } = error instanceof ApiError ? error : {};
          context.terminal.print(JSON.stringify({ error: { message, code, param, status, request_id: requestId } }));
          return 1;
        }
        if (!(error instanceof ApiError)) throw error;
        const { code, param, requestId, message } = error;
        const facts = [code, param && `at ${param}`, requestId].filter(Boolean).join(', ');
        throw new Error(`${message} (${facts})${error instanceof NotFoundError ? ' Is it of this environment?' : ''}`);
      }
    },
  };
}
