import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEngine } from '../src/engine/embedded.ts';
import { freePort } from '../test/support/free-ports.ts';

/**
 * Runs MongoDB's published specification tests with the driver's own runner on the embedded engine, and prints the
 * result of each suite. `DRIVER_SUITE` is a checkout of node-mongodb-native in which `npm ci --ignore-scripts && npm
 * run build:bundle` was run. Arguments select suites (folders or files of its `test/integration`); the default is the
 * list below. `--failures` lists the failing tests.
 */
const SUITES = [
  'crud/crud.spec.test.ts',
  'collection-management/collection_management.spec.test.ts',
  'index-management/search-index-management.spec.test.ts',
  'retryable-writes/retryable_writes.spec.test.ts',
  'retryable-reads/retryable_reads.spec.test.ts',
  'transactions/transactions.spec.test.ts',
  'transactions-convenient-api/transactions-convenient-api.spec.test.ts',
  'sessions/sessions.spec.test.ts',
  'change-streams/change_streams.spec.test.ts',
];

interface Report {
  stats: { passes: number; failures: number; pending: number };
  failures: { fullTitle: string; err: { message?: string } }[];
}

const checkout = process.env.DRIVER_SUITE;
if (!checkout) {
  console.error('DRIVER_SUITE must name a built checkout of node-mongodb-native');
  process.exit(2);
}
const chosen = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const folder = await mkdtemp(join(tmpdir(), 'driver-suite-'));
const engine = await startEngine({ dataDir: join(folder, 'data'), port: await freePort(), testCommands: true });
const { host } = new URL(engine.uri);
try {
  for (const suite of chosen.length > 0 ? chosen : SUITES) {
    const { stats, failures } = await runSuite(checkout, suite, `mongodb://${host}/?replicaSet=rs0`);
    console.log(`${suite}: ${stats.passes} of ${stats.passes + stats.failures} (${stats.pending} not for this server)`);
    if (!process.argv.includes('--failures')) continue;
    for (const { fullTitle, err } of failures) console.log(`  ${fullTitle}: ${err.message?.split('\n')[0] ?? ''}`);
  }
} finally {
  await engine.close();
  await rm(folder, { recursive: true, force: true });
}

async function runSuite(cwd: string, suite: string, uri: string): Promise<Report> {
  const output = join(folder, 'report.json');
  const report = ['--reporter', 'json', '--reporter-option', `output=${output}`];
  const mocha = ['mocha', '--config', 'test/mocha_mongodb.js', ...report, '--timeout', '15000', '--exit'];
  const env = { ...process.env, AUTH: 'noauth', MONGODB_URI: uri, TS_NODE_TRANSPILE_ONLY: 'true' };
  const child = spawn('npx', [...mocha, `test/integration/${suite}`], { cwd, env, stdio: 'ignore' });
  await new Promise((resolve, reject) => child.once('exit', resolve).once('error', reject));
  return JSON.parse(await readFile(output, 'utf8')) as Report;
}

/** The suite only accepts an address of the form host:port, so the engine cannot use a socket. */
