import { parseArgs } from 'node:util';
import { startServer } from './server.ts';

/** `node src/engine/main.ts --data-dir DIR [--port P | --socket PATH] [--test-commands]`: prints one line with its `mongodb://` URL when ready. */
try {
  const { values } = parseArgs({
    options: {
      port: { type: 'string' },
      socket: { type: 'string' },
      'data-dir': { type: 'string' },
      host: { type: 'string' },
      'test-commands': { type: 'boolean' },
    },
  });
  const engine = await startServer(optionsOf(values));
  console.log(engine.uri);
  const stop = (): void => void engine.close();
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
} catch (error) {
  console.error(`The engine could not start: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

type Values = { [name in 'port' | 'socket' | 'data-dir' | 'host']?: string | undefined } & {
  'test-commands'?: boolean | undefined;
};

function optionsOf(values: Values): Parameters<typeof startServer>[0] {
  const dataDir = values['data-dir'];
  if (!dataDir) throw new Error('say where its data lies: --data-dir DIR');
  if (values.host !== undefined && values.host !== '127.0.0.1' && values.host !== 'localhost') {
    throw new Error(`it serves this machine only: --host ${values.host} is refused`);
  }
  const common = { dataDir, testCommands: values['test-commands'] === true };
  if (values.port === undefined) return values.socket ? { ...common, socketPath: values.socket } : common;
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65535) throw new Error(`--port ${values.port} is not a port`);
  return { ...common, port };
}
