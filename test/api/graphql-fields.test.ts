import { isDeepStrictEqual } from 'node:util';
import { type GraphQLObjectType, getNamedType, isCompositeType, isIntrospectionType, isObjectType } from 'graphql';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { schema } from '../../src/graphql/schema.ts';
import { type Answer, Client } from '../support/client.ts';
import { type Credential, firstMessage, startWorld, type World } from '../support/credentials.ts';

/**
 * Every field that whoever holds a client_secret can ask for: what a secret key sees ("seen"), or null, or an empty list instead. Types
 * that are not here are reached with a secret key only.
 */
const FIELDS = `
Invoice.id                       seen
Invoice.status                   seen
Invoice.environment              seen
Invoice.number                   seen
Invoice.amount                   seen
Invoice.currency                 seen
Invoice.totals                   seen
Invoice.roundingAmount           seen
Invoice.customer                 seen
Invoice.lines                    seen
Invoice.metadata                 seen
Invoice.documents                seen
Invoice.xmlUrl                   seen
Invoice.pdfUrl                   seen
Invoice.dgiId                    seen
Invoice.rejectionReason          seen
Invoice.timeline                 seen
Invoice.createdAt                seen
Invoice.updatedAt                seen
Invoice.seller                   null
Invoice.email                    null
Invoice.attention                null
Invoice.warnings                 empty
Invoice.authorityAttempts        empty
Invoice.events                   empty
Invoice.deliveries               empty
Customer.ice                     seen
Customer.name                    seen
Customer.address                 null
Customer.email                   null
InvoiceLine.description          seen
InvoiceLine.quantity             seen
InvoiceLine.unitPrice            seen
InvoiceLine.taxRate              seen
InvoiceLine.amount               seen
InvoiceTotals.subtotal           seen
InvoiceTotals.taxTotal           seen
InvoiceTotals.taxTotals          seen
InvoiceTotals.total              seen
TaxTotal.rate                    seen
TaxTotal.base                    seen
TaxTotal.tax                     seen
InvoiceDocuments.xml             seen
InvoiceDocuments.pdf             seen
InvoiceDocument.url              seen
InvoiceDocument.mediaType        seen
InvoiceDocument.ready            seen
InvoiceDocument.sha256           seen
InvoiceDocument.size             seen
InvoiceTimelineEntry.status      seen
InvoiceTimelineEntry.at          seen
InvoiceTimelineEntry.eventId     seen
InvoiceStatusChange.invoiceId    seen
InvoiceStatusChange.eventId      seen
InvoiceStatusChange.status       seen
InvoiceStatusChange.dgiId        seen
InvoiceStatusChange.rejectionReason  seen
InvoiceStatusChange.updatedAt    seen
`;

/** Types that only answers to a secret key hold. */
const SECRET_KEYS_TYPES = `
  ApiKey AuthorityAttempt CoveredDocument CreateInvoicePayload CreateWebhookEndpointPayload DeleteWebhookEndpointPayload
  DocumentVerification HttpHeader IdempotencyConflictError InvalidInputError InvoiceAttention InvoiceConnection InvoiceEdge InvoiceEmail
  InvoiceValidation InvoiceWarning IssuedApiKey LimitReachedError NotFoundError PageInfo Problem ResendWebhookEventPayload
  RotatedWebhookSecret SellerAddress SellerLogo SellerProfile SigningCertificate StreamedEvent Tenant TimeStamp WebhookAttempt
  WebhookDelivery WebhookDeliveryConnection WebhookDeliveryEdge WebhookEndpoint WebhookEvent WebhookEventConnection WebhookEventEdge
  WebhookResendOutcome`;

const rowsOf = (table: string) =>
  table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
const ROWS = rowsOf(FIELDS);
const FRONT = new Set(ROWS.map(([coordinate = '']) => coordinate.split('.')[0] ?? ''));

let world: World;
beforeAll(async () => {
  world = await startWorld();
}, 60_000);
afterAll(() => world.service.close());

function fieldsOf(typeName: string) {
  return Object.values((schema.getType(typeName) as GraphQLObjectType).getFields());
}

/** What a field of the table leads to. */
function targetOf(coordinate: string) {
  const [typeName = '', name] = coordinate.split('.');
  return getNamedType(fieldsOf(typeName).find((field) => field.name === name)?.type);
}

it('the tables have every type, and every field that a front end reaches', () => {
  const others = SECRET_KEYS_TYPES.trim().split(/\s+/);
  const names = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) && !isIntrospectionType(type))
    .map(({ name }) => name)
    .filter((name) => !['Query', 'Mutation', 'Subscription'].includes(name));
  expect([...FRONT, ...others].sort()).toEqual(names.sort());
  const coordinates = [...FRONT].flatMap((type) => fieldsOf(type).map(({ name }) => `${type}.${name}`));
  expect(ROWS.map(([coordinate]) => coordinate).sort()).toEqual(coordinates.sort());
  for (const [coordinate = '', verdict] of ROWS) {
    const target = targetOf(coordinate);
    if (verdict === 'seen' && isCompositeType(target)) expect([...FRONT], coordinate).toContain(target.name);
  }
});

/** Whatever can be selected of a type, down to where types begin that only secret keys reach; of those the name alone. */
function everythingOf(typeName: string): string {
  const selected = fieldsOf(typeName).map(({ name, type }) => {
    const target = getNamedType(type);
    if (!isCompositeType(target)) return name;
    return `${name} ${FRONT.has(target.name) ? everythingOf(target.name) : '{ __typename }'}`;
  });
  return `{ ${selected.join(' ')} }`;
}

/** Adds the values of each field, `Customer.name` say, in a part of an answer. */
function collect(typeName: string, answer: Answer['body'], values: Map<string, unknown[]>): void {
  for (const { name, type } of fieldsOf(typeName)) {
    const coordinate = `${typeName}.${name}`;
    values.set(coordinate, [...(values.get(coordinate) ?? []), answer[name]]);
    const target = getNamedType(type);
    if (!FRONT.has(target.name)) continue;
    for (const each of [answer[name]].flat()) if (each) collect(target.name, each, values);
  }
}

/** All that this credential is shown of an invoice, by field. */
async function shown(invoice: Answer['body'], { token, clientSecret }: Credential, values: Map<string, unknown[]>) {
  const args = `(id: "${invoice.id}"${clientSecret === null ? '' : `, clientSecret: "${clientSecret}"`})`;
  const read = await new Client(world.service.url, token).graphql(`{ invoice${args} ${everythingOf('Invoice')} }`);
  expect(read.body.errors).toBeUndefined();
  collect('Invoice', read.body.data.invoice, values);
  const watch = `subscription { invoiceStatus${args} ${everythingOf('InvoiceStatusChange')} }`;
  collect('InvoiceStatusChange', (await firstMessage(world.service.url, token, watch)).data.invoiceStatus, values);
}

it.each(['client_secret', 'publishable key with the client_secret'])('what a %s is shown', async (credential) => {
  const { accepted, rejected, credentials } = world;
  const [whole, part] = [new Map<string, unknown[]>(), new Map<string, unknown[]>()];
  for (const invoice of [accepted, rejected]) {
    const secret = invoice.client_secret;
    const front = { token: credentials.pk.token, clientSecret: secret };
    await shown(invoice, credentials.secret, whole);
    await shown(invoice, credential === 'client_secret' ? { token: secret, clientSecret: null } : front, part);
  }
  const verdicts = ROWS.map(([coordinate = '']) => {
    const [all, mine] = [whole.get(coordinate) ?? [], part.get(coordinate) ?? []];
    const are = (values: unknown[], value: unknown) => values.every((each) => isDeepStrictEqual(each, value));
    // What is nothing for everybody would prove nothing.
    if (all.every((each) => each === null || isDeepStrictEqual(each, []))) return [coordinate, 'nothing'];
    if (are(mine, null)) return [coordinate, 'null'];
    if (are(mine, [])) return [coordinate, 'empty'];
    // The parts of an object have rows of their own.
    return [coordinate, isCompositeType(targetOf(coordinate)) || isDeepStrictEqual(mine, all) ? 'seen' : 'other'];
  });
  expect(verdicts).toEqual(ROWS);
});
