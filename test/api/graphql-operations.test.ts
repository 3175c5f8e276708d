import { type GraphQLObjectType, getNamedType, isUnionType } from 'graphql';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { schema } from '../../src/graphql/schema.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { CREDENTIALS, type CredentialName, firstMessage, startWorld, type World } from '../support/credentials.ts';

/**
 * Every operation of the schema as every credential (their names: {@link CREDENTIALS}) on what belongs to the tenant "own" in its test
 * environment; "ok" or REST's status. Without a tax authority no live key is issued, and live events are never sent by hand: 400.
 */
const OPERATIONS = `
                                   sibling  cs   pk+cs  pk   other  live  secret
Query.apiKey                       403      403  403    403  404    404   ok
Query.apiKeys                      403      403  403    403  ok     ok    ok
Query.invoice                      403      ok   ok     403  404    404   ok
Query.invoices                     403      403  403    403  ok     ok    ok
Query.node                         403      ok   ok     403  404    404   ok
Query.tenant                       403      403  403    403  ok     ok    ok
Query.verifyDocument               403      403  403    403  ok     ok    ok
Query.webhookDeliveries            403      403  403    403  ok     ok    ok
Query.webhookDelivery              403      403  403    403  404    404   ok
Query.webhookEndpoint              403      403  403    403  404    404   ok
Query.webhookEndpoints             403      403  403    403  ok     ok    ok
Query.webhookEvent                 403      403  403    403  404    404   ok
Query.webhookEvents                403      403  403    403  ok     ok    ok
Query.webhookResendCount           403      403  403    403  404    404   ok
Mutation.createApiKey              403      403  403    403  ok     400   ok
Mutation.createInvoice             403      403  403    403  ok     ok    ok
Mutation.createWebhookEndpoint     403      403  403    403  ok     ok    ok
Mutation.resendInvoiceEmail        403      403  403    403  404    404   ok
Mutation.resendWebhookDeliveries   403      403  403    403  404    404   ok
Mutation.resendWebhookEvent        403      403  403    403  404    404   ok
Mutation.revokeDocumentUrls        403      403  403    403  404    404   ok
Mutation.rotateApiKey              403      403  403    403  404    404   ok
Mutation.rotateWebhookSecret       403      403  403    403  404    404   ok
Mutation.sendTestWebhookEvent      403      403  403    403  404    400   ok
Mutation.updateSellerProfile       403      403  403    403  ok     ok    403
Mutation.updateWebhookEndpoint     403      403  403    403  404    404   ok
Mutation.validateInvoice           403      403  403    403  ok     ok    ok
Mutation.deleteWebhookEndpoint     403      403  403    403  404    404   ok
Mutation.revokeApiKey              403      403  403    403  404    404   ok
Subscription.invoiceEvents         403      403  403    403  ok     ok    ok
Subscription.invoiceStatus         403      ok   ok     403  404    404   ok
`;

const rowsOf = (table: string) =>
  table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
const [COLUMNS = [], ...ROWS] = rowsOf(OPERATIONS);

let world: World;
/** The arguments of each operation that needs some. */
let args: Record<string, string>;

beforeAll(async () => {
  world = await startWorld();
  const { service, accepted, endpointId, eventId, deliveryId, keyId } = world;
  const { body: disposable } = await new Client(service.url, world.credentials.secret.token).post(
    ...(['/v1/webhook_endpoints', { url: 'https://example.com/', events: ['invoice.signing'] }] as const),
  );
  const invoice = `amount: 12000, currency: "MAD", customer: { ice: "001234567000089", name: "A" },
    lines: [{ description: "x", quantity: 1, unitPrice: 10000 }]`;
  args = {
    'Query.apiKey': `id: "${keyId}"`,
    'Query.invoice': `id: "${accepted.id}"`,
    'Query.node': `id: "${accepted.id}"`,
    'Query.verifyDocument': 'xml: "<x/>"',
    'Query.webhookDelivery': `id: "${deliveryId}"`,
    'Query.webhookEndpoint': `id: "${endpointId}"`,
    'Query.webhookEvent': `id: "${eventId}"`,
    'Query.webhookResendCount': `selection: { endpointId: "${endpointId}" }`,
    'Mutation.createApiKey': 'kind: publishable',
    'Mutation.createInvoice': `input: { ${invoice} }`,
    'Mutation.createWebhookEndpoint': 'input: { url: "https://example.com/", events: ["invoice.signing"] }',
    'Mutation.deleteWebhookEndpoint': `id: "${disposable.id}"`,
    'Mutation.resendInvoiceEmail': `id: "${accepted.id}"`,
    'Mutation.resendWebhookDeliveries': `selection: { endpointId: "${endpointId}" }`,
    'Mutation.resendWebhookEvent': `eventId: "${eventId}"`,
    'Mutation.revokeApiKey': `id: "${keyId}"`,
    'Mutation.revokeDocumentUrls': `id: "${accepted.id}"`,
    'Mutation.rotateApiKey': `id: "${keyId}"`,
    'Mutation.rotateWebhookSecret': `endpointId: "${endpointId}"`,
    'Mutation.sendTestWebhookEvent': `type: "invoice.signing", endpointId: "${endpointId}"`,
    'Mutation.updateSellerProfile': 'input: { legalForm: "SA" }',
    'Mutation.updateWebhookEndpoint': `id: "${endpointId}", input: { description: "x" }`,
    'Mutation.validateInvoice': 'input: {}',
    'Subscription.invoiceStatus': `id: "${accepted.id}"`,
  };
}, 60_000);
afterAll(() => world.service.close());

/** The operation with the least that can be selected. */
function documentOf(coordinate: string, clientSecret: string | null): string {
  const [root = '', name = ''] = coordinate.split('.');
  const field = (schema.getType(root) as GraphQLObjectType).getFields()[name];
  if (!field) throw new Error(`${coordinate} is no operation`);
  const takesSecret = clientSecret !== null && field.args.some((arg) => arg.name === 'clientSecret');
  const given = [args[coordinate] ?? '', takesSecret ? `clientSecret: "${clientSecret}"` : ''].filter(Boolean);
  const refusal = isUnionType(getNamedType(field.type)) ? '... on Error { status }' : '';
  const list = given.length > 0 ? `(${given.join(', ')})` : '';
  return `${root.toLowerCase()} { ${name}${list} { __typename ${refusal} } }`;
}

/** "ok", or the status with which an operation is refused. */
async function outcomeOf(coordinate: string, credential: CredentialName): Promise<string> {
  const { service, credentials } = world;
  const { token, clientSecret } = credentials[credential];
  const query = documentOf(coordinate, clientSecret);
  const client = new Client(service.url, token);
  const { errors, data } = coordinate.startsWith('Subscription.')
    ? // Something happens, so that whoever may hear of it does.
      await firstMessage(service.url, token, query, () => client.post('/v1/invoices', invoiceBody()))
    : (await client.graphql(query)).body;
  if (errors) return String(errors[0].extensions.status);
  const [answer] = Object.values<{ status?: number }>(data);
  return String(answer?.status ?? 'ok');
}

it('the table has every operation and every credential', () => {
  const all = ['Query', 'Mutation', 'Subscription'].flatMap((root) =>
    Object.keys((schema.getType(root) as GraphQLObjectType).getFields()).map((name) => `${root}.${name}`),
  );
  expect(ROWS.map(([coordinate]) => coordinate).sort()).toEqual(all.sort());
  expect(COLUMNS).toEqual(CREDENTIALS);
});

it.each(ROWS.map(([coordinate = '', ...expected]) => ({ coordinate, expected })))(
  '$coordinate',
  async ({ coordinate, expected }) => {
    const outcomes: string[] = [];
    for (const credential of CREDENTIALS) outcomes.push(await outcomeOf(coordinate, credential));
    expect(outcomes).toEqual(expected);
  },
);
