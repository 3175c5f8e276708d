import { arch, cpus, hostname, release, totalmem, type } from 'node:os';
import { Double, Int32, Long } from 'bson';
import { CommandError } from '../errors.ts';
import { asDoc, type Doc } from '../query/types.ts';
import { MAX_DOCUMENT } from '../wire/bson.ts';
import type { Command } from './command.ts';
import { SET_NAME, VERSION } from './hello.ts';

/** The parameters that `getParameter` supports. */
const PARAMETERS: Doc = {
  featureCompatibilityVersion: { version: VERSION.split('.').slice(0, 2).join('.') },
  enableTestCommands: false,
  authenticationMechanisms: [],
  transactionLifetimeLimitSeconds: new Int32(60),
  cursorTimeoutMillis: new Int32(600_000),
};

export const ping: Command = { options: [], run: () => ({}) };

export const buildInfo: Command = {
  options: [],
  run: () => ({
    version: VERSION,
    versionArray: [...VERSION.split('.').map((part) => new Int32(Number(part))), new Int32(0)],
    gitVersion: 'unknown',
    modules: ['embedded'],
    allocator: 'v8',
    javascriptEngine: 'none',
    sysInfo: 'deprecated',
    bits: new Int32(64),
    debug: false,
    maxBsonObjectSize: new Int32(MAX_DOCUMENT),
    storageEngines: ['sqlite'],
    openssl: { running: 'none' },
  }),
};

export const hostInfo: Command = {
  options: [],
  run: () => ({
    system: {
      currentTime: new Date(),
      hostname: hostname(),
      cpuAddrSize: new Int32(64),
      memSizeMB: Long.fromNumber(Math.floor(totalmem() / 1024 ** 2)),
      numCores: new Int32(cpus().length),
      cpuArch: arch(),
    },
    os: { type: type(), name: type(), version: release() },
    extra: {},
  }),
};

export const serverStatus: Command = {
  options: ['repl', 'metrics', 'locks', 'wiredTiger', 'tcmalloc', 'opLatencies'],
  run: ({ server, store }) => {
    const uptime = Date.now() - server.startedAt.getTime();
    const { current, created } = server.connections();
    const memory = process.memoryUsage();
    return {
      host: server.host,
      version: VERSION,
      process: 'mongod',
      pid: Long.fromNumber(process.pid),
      uptime: new Double(Math.floor(uptime / 1000)),
      uptimeMillis: Long.fromNumber(uptime),
      localTime: new Date(),
      connections: {
        current: new Int32(current),
        available: new Int32(65536 - current),
        totalCreated: new Int32(created),
      },
      mem: { bits: new Int32(64), resident: new Int32(memory.rss / 1024 ** 2), supported: true },
      metrics: { cursor: { open: { total: Long.fromNumber(store.cursors.size) } } },
      transactions: { currentOpen: Long.fromNumber([...store.transactions.sessions()].length) },
      repl: { setName: SET_NAME, isWritablePrimary: true, secondary: false, primary: server.host, me: server.host },
      storageEngine: { name: 'sqlite', supportsCommittedReads: true, persistent: true },
    };
  },
};

export const connectionStatus: Command = {
  options: ['showPrivileges'],
  run: () => ({ authInfo: { authenticatedUsers: [], authenticatedUserRoles: [] } }),
};

export const getLog: Command = {
  options: [],
  run: ({ args }) =>
    args.string('getLog') === '*'
      ? { names: ['global', 'startupWarnings'] }
      : { totalLinesWritten: new Int32(0), log: [] },
};

/** `{getParameter: 1, name: 1}` returns a parameter; `'*'` or `{allParameters: true}` returns all. */
export const getParameter: Command = {
  options: [...Object.keys(PARAMETERS)],
  run: ({ args, failPoints }) => {
    const which = args.body.getParameter;
    const parameters: Doc = { ...PARAMETERS, enableTestCommands: failPoints !== undefined };
    if (which === '*' || asDoc(which)?.allParameters === true) return parameters;
    const found = Object.keys(PARAMETERS).filter((name) => args.has(name));
    if (found.length === 0) throw new CommandError('InvalidOptions', 'no option found to get');
    return Object.fromEntries(found.map((name) => [name, parameters[name]]));
  },
};
