import fc from 'fast-check';
import { type GraphQLNamedType, getNamedType, isAbstractType, isLeafType, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { schema } from '../../src/graphql/schema.ts';
import { createPeopleRepository } from '../../src/storage/people.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { signedIn } from '../support/person.ts';
import { randomQueries } from '../support/random-operations.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { sampled } from '../support/samples.ts';
import { startService, type TestService } from '../support/service.ts';

/**
 * A credential gets no data that it has no access to, whatever the query: each foreign id at each field that takes one,
 * and random valid queries with the ids of all objects. `FUZZ_RUNS=5000` sends more queries.
 */

const RUNS = Number(process.env.FUZZ_RUNS ?? sampled(500, 20));
/** Contained in every text of objects that the credentials have no access to. */
const FOREIGN = 'foreign-4e77b2';
/** Contained in every text that only the credit note has, not its invoice. */
const CREDITED = 'credited-91c0d7';

let service: TestService;
let receiver: Receiver;
interface Asker {
  /** A token, or the headers of a session. */
  readonly token: string | Readonly<Record<string, string>>;
  readonly clientSecret: string | null;
}

/** The credentials of the queries. */
const askers: Record<string, Asker> = {};
let owner: Client;
let publishableKey: string;
/** A person of the tenant of these objects. */
let colleague: Client;
/** Ids of objects without access. An answer may contain one only if the query sent it. */
let foreignIds: string[] = [];
let ids: string[] = [];
/** The credit note among them, and what its invoice's client has. */
let credited: { readonly id: string; readonly invoiceId: string; readonly invoiceSecret: string };

beforeAll(async () => {
  service = await startService({ RATE_LIMIT_ADDRESS: '1000000', ALLOW_INSECURE_WEBHOOKS: 'true' });
  receiver = await startReceiver();
  const own = await service.tenant({ legalName: FOREIGN, email: `${FOREIGN}@example.com` });
  owner = new Client(service.url, own.secretKey);
  publishableKey = own.publishableKey;
  const stranger = await service.tenant();
  const customer = { ice: '001234567000080', name: FOREIGN, address: FOREIGN, email: `a@${FOREIGN}.example` };
  const lines = [{ description: FOREIGN, quantity: 1, unit_price: 10000 }];
  const endpoint = { url: `${receiver.url}/${FOREIGN}`, events: ['invoice.accepted'], description: FOREIGN };
  const endpointId = (await owner.post('/v1/webhook_endpoints', endpoint)).body.id;
  const asked = (await owner.post('/v1/invoices', invoiceBody())).body;
  const foreign = (await owner.post('/v1/invoices', invoiceBody({ customer, lines, metadata: { key: FOREIGN } }))).body;
  await Promise.all([owner.settled(asked.id), owner.settled(foreign.id)]);
  const made = await owner.graphql(
    `mutation { creditInvoice(invoiceId: "${foreign.id}", input: { reason: other, note: "${FOREIGN} ${CREDITED}",
        amounts: [{ taxRate: 20, net: 1, description: "${FOREIGN} ${CREDITED}" }], metadata: { key: "${CREDITED}" } }) {
      ... on CreditInvoicePayload { creditNote { id } } } }`,
  );
  const creditNoteId = made.body.data.creditInvoice.creditNote.id;
  credited = { id: creditNoteId, invoiceId: foreign.id, invoiceSecret: foreign.client_secret };
  const drafted = await owner.graphql(
    `mutation { createDraft(content: { number: "${FOREIGN}" }) { ... on CreateDraftPayload { draft { id } } } }`,
  );
  const draftId = drafted.body.data.createDraft.draft.id;
  const query = '{ webhookDeliveries(state: delivered) { nodes { id eventId } } apiKeys { id } tenant { id } }';
  const data = await vi.waitFor(async () => {
    const found = (await owner.graphql(query)).body.data;
    expect(found.webhookDeliveries.nodes).toHaveLength(2);
    return found;
  });
  const deliveries: { id: string; eventId: string }[] = data.webhookDeliveries.nodes;
  const keys = data.apiKeys.map(({ id }: { id: string }) => id);
  foreignIds = [
    foreign.id,
    creditNoteId,
    draftId,
    endpointId,
    data.tenant.id,
    ...keys,
    ...deliveries.map(({ id }) => id),
  ];
  ids = [asked.id, ...foreignIds, ...deliveries.map(({ eventId }) => eventId), 'inv_x', ''];
  askers['the client_secret of another invoice'] = { token: asked.client_secret, clientSecret: null };
  askers['a publishable key with it'] = { token: own.publishableKey, clientSecret: asked.client_secret };
  askers['a publishable key of another tenant with it'] = {
    token: stranger.publishableKey,
    clientSecret: asked.client_secret,
  };
  askers["another tenant's secret key"] = { token: stranger.secretKey, clientSecret: null };
  const unknown = newId('per');
  const { db } = service.app.store;
  await db.collection('people').insertOne({ _id: unknown as never, name: FOREIGN, email: `${FOREIGN}@x.example` });
  await createPeopleRepository(db).grant(unknown, {
    isOperator: false,
    memberships: [{ tenantId: own.id, role: 'viewer' }],
  });
  foreignIds.push(unknown);
  ids.push(unknown);
  const insider = await signedIn(service, { memberships: [{ tenantId: own.id, role: 'viewer' }] });
  colleague = new Client(service.url, insider.browser.credential(own.id));
  const member = await signedIn(service, { memberships: [{ tenantId: stranger.id, role: 'owner' }] });
  askers['a person of another tenant'] = { token: member.browser.credential(stranger.id), clientSecret: null };
  askers['a person of another tenant who asks for this one'] = {
    token: member.browser.credential(own.id),
    clientSecret: asked.client_secret,
  };
  const operator = await signedIn(service, { isOperator: true });
  askers['an operator without a role in the tenant'] = {
    token: operator.browser.credential(own.id),
    clientSecret: null,
  };
  askers["the tenant's live key"] = { token: await service.liveKey(own.id), clientSecret: null };
});
afterAll(async () => {
  await service.close();
  await receiver.close();
});

/**
 * Queries with ids of existing objects. verifyDocument is left out: it needs a thread, and its input is a text that the
 * client has.
 */
function queriesWith(clientSecret: string | null) {
  const texts = (path: string) => (path.endsWith('.clientSecret') ? [clientSecret ?? 'x'] : ids);
  return randomQueries(schema, { texts, without: ['verifyDocument'] });
}

/** The names of an object's fields that are values and need no argument. */
function valueNames(type: GraphQLNamedType): string[] {
  const fields = isObjectType(type) ? Object.values(type.getFields()) : [];
  return fields.filter((field) => isLeafType(getNamedType(field.type)) && field.args.length === 0).map((f) => f.name);
}

/** A selection of the fields that are values and need no argument; of an interface, those of each of its types. */
function valuesOf(type: GraphQLNamedType): string {
  if (isLeafType(type)) return '';
  if (!isAbstractType(type)) return `{ ${valueNames(type).join(' ')} }`;
  const types = schema.getPossibleTypes(type);
  const all = types.flatMap(valueNames);
  // A field of the same name may have another type in another object, so it gets an alias. Aliases are limited.
  const isShared = (name: string) => all.indexOf(name) !== all.lastIndexOf(name);
  const parts = types.map((each) => {
    const names = valueNames(each).map((name) => (isShared(name) ? `${each.name}_${name}: ${name}` : name));
    return `... on ${each.name} { ${names.join(' ')} }`;
  });
  return `{ __typename ${parts.join(' ')} }`;
}

/** With variables, so that a query is validated once for all ids. */
interface Aimed {
  readonly query: string;
  readonly variables: Readonly<Record<string, string>>;
}

/** A query of one object by its id, for each root field that takes an id. */
function aimedAt(id: string, clientSecret: string | null): Aimed[] {
  const fields = Object.values(schema.getQueryType()?.getFields() ?? {});
  return fields
    .filter(({ args }) => args.some(({ name }) => name === 'id'))
    .flatMap(({ name, args, type }) => {
      const secrets = args.some((each) => each.name === 'clientSecret') ? [null, clientSecret] : [null];
      return [...new Set(secrets)].map((secret) => {
        const [declared, given] =
          secret === null ? ['$id: ID!', 'id: $id'] : ['$id: ID!, $secret: String', 'id: $id, clientSecret: $secret'];
        const query = `query (${declared}) { found: ${name}(${given}) ${valuesOf(getNamedType(type))} }`;
        return { query, variables: { id, ...(secret !== null && { secret }) } };
      });
    });
}

/** The object that a query aimed at has found; null if there is none for this credential. */
async function found(client: Client, { query, variables }: Aimed): Promise<unknown> {
  const { body } = await client.graphql(query, variables);
  // A person who asks for a tenant of others gets no answer at all.
  if (body.error) expect(body.error).toMatchObject({ code: 'resource_not_found', param: 'Fatoura-Tenant' });
  // A query that cannot run would prove nothing: its error has no path.
  else if (body.errors) expect(body.errors[0].path).toEqual(['found']);
  return body.data?.found ?? null;
}

/** Names of the credentials that have no access to the foreign ids. */
const WITHOUT_ACCESS = [
  'the client_secret of another invoice',
  'a publishable key with it',
  'a publishable key of another tenant with it',
  "another tenant's secret key",
  'a person of another tenant',
  'a person of another tenant who asks for this one',
  'an operator without a role in the tenant',
  "the tenant's live key",
];

describe('a query aimed at an id without access', () => {
  it.each(WITHOUT_ACCESS)('%s finds nothing', async (name) => {
    const { token, clientSecret } = askers[name] as Asker;
    const client = new Client(service.url, token);
    // A live key may see its tenant, which both environments share.
    const targets = foreignIds.filter((id) => name !== "the tenant's live key" || !id.startsWith('ten_'));
    for (const query of targets.flatMap((id) => aimedAt(id, clientSecret)))
      expect({ query, found: await found(client, query) }).toEqual({ query, found: null });
  });

  it('each id is found by a credential that has access', async () => {
    // People are reached by their list only.
    for (const id of foreignIds.filter((each) => !each.startsWith('per_'))) {
      for (const client of [owner, colleague]) {
        const objects = await Promise.all(aimedAt(id, null).map((query) => found(client, query)));
        expect({ id, found: JSON.stringify(objects).includes(id) }).toEqual({ id, found: true });
      }
    }
  });
});

describe('what has the client_secret of an invoice', () => {
  const holders = () => [
    { token: credited.invoiceSecret, clientSecret: null },
    { token: publishableKey, clientSecret: credited.invoiceSecret },
  ];

  it('finds the invoice, and not its credit note', async () => {
    for (const { token, clientSecret } of holders()) {
      const client = new Client(service.url, token);
      const seen = await Promise.all(aimedAt(credited.invoiceId, clientSecret).map((query) => found(client, query)));
      expect(JSON.stringify(seen)).toContain(FOREIGN);
      for (const query of aimedAt(credited.id, clientSecret))
        expect({ query, found: await found(client, query) }).toEqual({ query, found: null });
    }
  });

  it('gets nothing of the credit note, whatever the query', async () => {
    for (const { token, clientSecret } of holders()) {
      const client = new Client(service.url, token);
      const property = fc.asyncProperty(queriesWith(clientSecret), async (query) => {
        const answer = JSON.stringify((await client.post('/graphql', query)).body);
        expect(answer).not.toContain(CREDITED);
        if (!JSON.stringify(query).includes(credited.id)) expect(answer).not.toContain(credited.id);
      });
      await fc.assert(property, { numRuns: RUNS });
    }
  });
});

describe('every query', () => {
  it.each(WITHOUT_ACCESS)('%s gets no data without access', async (name) => {
    const { token, clientSecret } = askers[name] as Asker;
    const client = new Client(service.url, token);
    const property = fc.asyncProperty(queriesWith(clientSecret), async (query) => {
      const { body } = await client.post('/graphql', query);
      const [sent, answer] = [JSON.stringify(query), JSON.stringify(body)];
      // A live key may see the profile, which both environments of its tenant share.
      if (name !== "the tenant's live key") expect(answer).not.toContain(FOREIGN);
      const shown = foreignIds.filter((id) => answer.includes(id) && !sent.includes(id));
      expect(shown.filter((id) => name !== "the tenant's live key" || !id.startsWith('ten_'))).toEqual([]);
    });
    await fc.assert(property, { numRuns: RUNS });
  });

  it('the queries reach the data with a credential that has access', { timeout: 240_000 }, async () => {
    let reached = 0;
    const enough = sampled(50);
    // About one query in twelve reaches the data; at most three thousand are sent.
    for (let asked = 0; asked < 3_000 && reached < enough; asked += 20) {
      for (const query of fc.sample(queriesWith(null), 20)) {
        if (JSON.stringify((await owner.post('/graphql', query)).body).includes(FOREIGN)) reached++;
      }
    }
    expect(reached).toBeGreaterThanOrEqual(enough);
  });
});
