// Runs schemathesis (PyPI) against its own instance of the service: it generates valid and invalid requests from the
// OpenAPI document and checks every answer against it. `node scripts/check-schemathesis.ts [PROGRAM]`; prints that it
// was skipped if the program is not installed. Not part of `npm test`, because it needs Python.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApp } from '../src/app/app.ts';
import { readConfig } from '../src/config.ts';

const program = process.argv[2] ?? 'schemathesis';
if (spawnSync(program, ['--version']).status !== 0) {
  console.log(`skipped: ${program} is not installed (pip install schemathesis)`);
  process.exit(0);
}

// Rules that a schema cannot express: a cursor must be the id of an invoice, only one cursor is allowed, and the lines
// of an invoice must add up (422) to an amount in range (400).
const SETTINGS = `
[checks]
positive_data_acceptance.expected-statuses = ["2xx", "304", "401", "403", "404", "409"]

[[operations]]
include-operation-id = "listInvoices"
[operations.checks]
positive_data_acceptance.expected-statuses = ["2xx", "304", "400"]

[[operations]]
include-operation-id = "createInvoice"
[operations.checks]
positive_data_acceptance.expected-statuses = ["2xx", "400", "409", "422"]

[[operations]]
include-operation-id = "createWebhookEndpoint"
[operations.checks]
positive_data_acceptance.expected-statuses = ["2xx", "422"]
`;

const folder = await mkdtemp(join(tmpdir(), 'schemathesis-'));
const limits = { RATE_LIMIT_SECRET: '10000000', RATE_LIMIT_ADDRESS: '10000000', RATE_LIMIT_PUBLISHABLE: '10000000' };
const app = await startApp(readConfig({ PORT: '0', DATA_DIR: folder, LOG_LEVEL: 'error', ...limits }));
const settings = join(folder, 'schemathesis.toml');
await writeFile(settings, SETTINGS);
const description = join(folder, 'openapi.json');
await writeFile(description, JSON.stringify(await describedMessages()));
const arguments_ = [
  '--config-file',
  settings,
  'run',
  description,
  '--url',
  String(app.url),
  '--header',
  `Authorization: Bearer ${app.firstStart.demo?.secretKey}`,
  ...'--checks all --phases examples,coverage,fuzzing --max-examples 30 --seed 1'.split(' '),
  ...'--generation-deterministic --suppress-health-check all --request-timeout 20 --no-color'.split(' '),
];
const child = spawn(program, arguments_, { stdio: 'inherit', cwd: folder });
process.exitCode = await new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? 1)));
await app.close();
await rm(folder, { recursive: true, force: true });

/**
 * Makes the service's OpenAPI document, more exact than it can be for client generators: the stream is described by its
 * messages, and null is allowed where the document has only a reference.
 */
async function describedMessages(): Promise<unknown> {
  const document = await (await fetch(`${app.url}/v1/openapi.json`)).json();
  const data = { type: 'string', contentMediaType: 'application/json' };
  const message = { ...data, contentSchema: { $ref: '#/components/schemas/StatusMessage' } };
  const stream = { type: 'object', properties: { id: { type: 'string' }, data: message }, required: ['id', 'data'] };
  document.paths['/v1/invoices/{id}/stream'].get.responses[200].content['text/event-stream'].schema = stream;
  const { properties } = document.components.schemas.LineInput;
  properties.tax_rate = { anyOf: [{ $ref: properties.tax_rate.$ref }, { type: 'null' }] };
  return document;
}
