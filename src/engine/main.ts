import { parseArgs } from 'node:util';
import { endWithNpm } from './parent-process.ts';
import { startServer } from './server.ts';

const USAGE = 'Usage: npm run -s engine -- --data-dir DIR [--port P | --socket PATH] [--test-commands]';

const HELP = `${USAGE}

Serves the database in DIR, which is created if it does not exist. Prints one line with the mongodb:// URL when ready.
Stop it with Ctrl-C.

Options:
  --data-dir DIR   folder of the database; only one engine at a time can use it
  --port P         listen on this port of 127.0.0.1; 0 picks a free one
  --socket PATH    listen on this unix socket, whose path must end in .sock (default: a socket in DIR)
  --test-commands  enable the command configureFailPoint; for driver tests only, never with real data

Exit codes: 0 stopped, 1 could not start, 2 usage error.`;

// This module runs the engine as a process of its own.
endWithNpm();
const options = commandLineOptions();
if (options !== null) {
  try {
    const engine = await startServer(options);
    console.log(engine.uri);
    const stop = (): void => void engine.close();
    process.once('SIGINT', stop);
    process.once('SIGTERM', stop);
  } catch (error) {
    console.error(`The engine could not start: ${messageOf(error)}`);
    process.exitCode = 1;
  }
}

/** Parses the command line. Returns null when there is nothing to start (help or a usage error). */
function commandLineOptions(): Parameters<typeof startServer>[0] | null {
  try {
    const { values } = parseArgs({
      options: {
        port: { type: 'string' },
        socket: { type: 'string' },
        'data-dir': { type: 'string' },
        host: { type: 'string' },
        'test-commands': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    if (values.help !== true) return optionsOf(values);
    console.log(HELP);
  } catch (error) {
    console.error(`${messageOf(error)}\n${USAGE}`);
    process.exitCode = 2;
  }
  return null;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

type Values = { [name in 'port' | 'socket' | 'data-dir' | 'host']?: string | undefined } & {
  'test-commands'?: boolean | undefined;
};

function optionsOf(values: Values): Parameters<typeof startServer>[0] {
  const dataDir = values['data-dir'];
  if (!dataDir) throw new Error('--data-dir DIR is required');
  if (values.host !== undefined && values.host !== '127.0.0.1' && values.host !== 'localhost') {
    throw new Error(`--host ${values.host} is refused: the engine listens on 127.0.0.1 only`);
  }
  const common = { dataDir, testCommands: values['test-commands'] === true };
  if (values.port === undefined) return values.socket ? { ...common, socketPath: values.socket } : common;
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65535) throw new Error(`--port ${values.port} is not a valid port`);
  return { ...common, port };
}
