import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Db } from 'mongodb';
import { startApp } from '../../src/app/app.ts';
import { readConfig } from '../../src/config.ts';
import { MAGIC_ICES, type Scenario } from '../../src/domain/invoice/test-scenarios.ts';
import { moroccanDate } from '../../src/domain/morocco/time.ts';
import { invite } from '../../src/domain/person/invite.ts';
import { type NumberDocument, seriesKey } from '../../src/storage/invoice-numbers.ts';
import { createPeopleRepository } from '../../src/storage/people.ts';
import { Client } from '../../test/support/client.ts';
import { startReceiver } from '../../test/support/receiver.ts';
import { storeDone } from '../bench/stored-invoices.ts';

/** A service whose demo tenant has worked for a month, as data for the pictures. */
export interface SampleWorkspace {
  readonly url: string;
  /** The link that makes the account of the owner, who is operator, too. */
  readonly invitation: string;
  /** The path of an invitation that stays open. */
  readonly openInvitation: string;
  /** Paths of the customer's page, secret included, by the state of the invoice. */
  readonly customerPages: Readonly<Record<'accepted' | 'rejected' | 'waiting', string>>;
  /** Id of an accepted invoice with a mail and deliveries. */
  readonly invoiceId: string;
  readonly rejectedId: string;
  /** Id of a draft that cannot be issued yet. */
  readonly draftId: string;
  /** Id of a file of invoices that is checked and not issued. */
  readonly importId: string;
  /** Of a credit note of that invoice. */
  readonly creditNoteId: string;
  /** Id of a delivery that the receiver refused. */
  readonly deliveryId: string;
  /** Paths of the pages for an `iframe`, with their tokens. */
  readonly embedded: Readonly<Record<'invoice' | 'deliveries', string>>;
  close(): Promise<void>;
}

const MONTH_MS = 30 * 86_400_000;
const EARLIER_INVOICES = 340;
const UNLIMITED = '1000000';

const [ORDINARY, CUSTOMERS] = [
  '001234567000089',
  [
    ['Société Atlas Distribution SARL', '001234567000089', 450_000, 3],
    ['Coopérative Argane d’Essaouira', '002189456000077', 128_000, 2],
    ['Riad Zitoune', '001738291000046', 96_500, 4],
    ['شركة النخيل للتجارة', '003021547000091', 1_250_000, 1],
    ['Pharmacie Al Massira', '002547813000012', 61_200, 6],
  ],
] as const;

/** Starts the service on an empty store and fills it. */
export async function startSampleWorkspace(): Promise<SampleWorkspace> {
  const dataDir = await mkdtemp(join(tmpdir(), 'fatoura-screenshots-'));
  const app = await startApp(
    readConfig({
      PORT: '0',
      DATA_DIR: dataDir,
      LOG_LEVEL: 'error',
      ALLOW_INSECURE_WEBHOOKS: 'true',
      RATE_LIMIT_SECRET: UNLIMITED,
      RATE_LIMIT_PUBLISHABLE: UNLIMITED,
      RATE_LIMIT_ADDRESS: UNLIMITED,
    }),
  );
  const { demo, invitationUrl } = app.firstStart;
  const tenant = demo && (await app.tenants.find(demo.tenantId));
  if (!demo || !tenant || !invitationUrl || !app.url) throw new Error('the service has no demo tenant');
  const owner = { kind: 'secret', keyId: 'key_samples', tenant, environment: 'test' } as const;
  await storeMonth(app.store.db, owner);
  const client = new Client(app.url, demo.secretKey);
  const receivers = await Promise.all([startReceiver(), startReceiver()]);
  receivers[1].answer((_request, response) => {
    response.statusCode = 503;
    response.end('maintenance until 14:00');
  });
  await setProfile(client);
  const endpointIds: string[] = [];
  for (const [nth, { url }] of receivers.entries()) {
    const { body } = await expectStatus(
      201,
      client.post('/v1/webhook_endpoints', {
        url: `${url}/${nth === 0 ? 'erp/invoices' : 'bookkeeping'}`,
        events: nth === 0 ? ['invoice.accepted', 'invoice.rejected'] : ['invoice.accepted'],
        description: nth === 0 ? 'ERP' : 'Bookkeeping',
      }),
    );
    endpointIds.push(body.id);
  }
  await refusedRequests(client);
  for (const [name, ice, price, quantity] of CUSTOMERS) await create(client, name, ice, price, quantity);
  const [accepted, rejected, waiting] = await Promise.all(
    [ORDINARY, iceOf('unknown-ice'), iceOf('unavailable')].map((ice) =>
      create(client, 'Société Atlas Distribution SARL', ice, 450_000, 3),
    ),
  );
  if (!accepted || !rejected || !waiting) throw new Error('the invoices are missing');
  await client.settled(accepted.id);
  const creditNoteId = await credit(client, accepted.id);
  return {
    url: app.url,
    invitation: invitationUrl,
    invoiceId: accepted.id,
    rejectedId: rejected.id,
    draftId: await draft(client),
    importId: await importFile(client, app.url, demo.secretKey),
    creditNoteId,
    openInvitation: await openInvitation(app.store.db, tenant.id),
    deliveryId: await refusedDelivery(client),
    embedded: {
      invoice: await embed(client, 'createInvoiceEmbed', `id: "${accepted.id}"`),
      deliveries: await embed(client, 'createDeliveryLogEmbed', `endpointId: "${endpointIds[1]}"`),
    },
    customerPages: { accepted: accepted.path, rejected: rejected.path, waiting: waiting.path },
    async close() {
      await app.close();
      await Promise.all(receivers.map((each) => each.close()));
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Stores the invoices of a month, with their numbers. */
async function storeMonth(db: Db, owner: Parameters<typeof storeDone>[1]): Promise<void> {
  const ids = await storeDone(db, owner, { count: EARLIER_INVOICES, lines: 2, overMs: MONTH_MS });
  const name = moroccanDate(new Date()).slice(0, 'YYYY'.length);
  const key = (serial: number) =>
    seriesKey({ tenantId: owner.tenant.id, environment: owner.environment }, { name, serial });
  const numbers = ids.map((invoiceId, nth) => ({ _id: key(nth + 1), invoiceId }));
  await db.collection<NumberDocument>('invoice_numbers').insertMany(numbers);
}

const iceOf = (scenario: Scenario) => Object.keys(MAGIC_ICES).find((ice) => MAGIC_ICES[ice] === scenario) ?? ORDINARY;

async function create(client: Client, name: string, ice: string, unitPrice: number, quantity: number) {
  const lines = [
    { description: 'Conseil en organisation', quantity, unit_price: unitPrice },
    { description: 'Documentation', quantity: 4, unit_price: 50_600, tax_rate: 10 },
    { description: 'Transport', quantity: 1, unit_price: 4_400, tax_rate: 14 },
  ];
  const vat = (net: number, rate: number) => Math.floor((net * rate + 50) / 100);
  const net = unitPrice * quantity;
  const amount = net + vat(net, 20) + 202_400 + vat(202_400, 10) + 4_400 + vat(4_400, 14);
  const email = 'comptabilite@client.example';
  const { body } = await expectStatus(
    201,
    client.post('/v1/invoices', { amount, currency: 'MAD', customer: { ice, name, email }, lines }),
  );
  return { id: body.id as string, path: `/i/${body.id}#${body.client_secret}` };
}

/** Credits a part of an invoice. @returns the id of the credit note, as soon as it is accepted */
async function credit(client: Client, invoiceId: string): Promise<string> {
  const input = '{ reason: return, note: "Retour du 12 mars", lines: [{ line: 2, quantity: 1 }] }';
  const { body } = await client.graphql(
    `mutation { made: creditInvoice(invoiceId: "${invoiceId}", input: ${input}) {
      ... on CreditInvoicePayload { creditNote { id } } } }`,
  );
  const { id } = body.data.made.creditNote;
  for (;;) {
    const { data } = (await client.graphql(`{ creditNote(id: "${id}") { status } }`)).body;
    if (data.creditNote.status === 'accepted') return id;
    await setTimeout(200);
  }
}

/** @returns the id of a draft with faults */
async function draft(client: Client): Promise<string> {
  const lines = '[{ description: "Conseil", quantity: "deux", unitPrice: 10000, taxRate: 21 }]';
  const content = `{ amount: 0, currency: "MAD", customer: { ice: "00123", name: "Riad Zitoune" }, lines: ${lines} }`;
  const { body } = await client.graphql(
    `mutation { made: createDraft(content: ${content}) { ... on CreateDraftPayload { draft { id } } } }`,
  );
  return body.data.made.draft.id;
}

/** @returns the id of an uploaded file, one invoice of which is to be corrected, as soon as it is checked */
async function importFile(client: Client, url: string, secretKey: string): Promise<string> {
  const rows = [
    'Repère de la facture;Client;ICE du client;Désignation;Quantité;Unité;Prix unitaire HT;Taux de TVA',
    'A;Société Atlas Distribution SARL;001234567000089;Conseil en organisation;2,5;j;4 000,00;20',
    'A;;;Déplacement;120;km;2,50;20',
    'B;Riad Zitoune;1,23457E+14;Livres;3;;50,00;0',
    'C;Coopérative Argane d’Essaouira;002189456000077;Formation;1;lot;12 000,00;vingt',
    'D;شركة النخيل للتجارة;003021547000091;Maintenance;1;mois;1 250,00;20',
  ];
  const response = await fetch(
    `${url}/imports?${new URLSearchParams({ name: 'factures-novembre.csv', language: 'fr' })}`,
    {
      method: 'POST',
      headers: { Authorization: `Bearer ${secretKey}` },
      body: rows.join('\r\n'),
    },
  );
  const { id } = (await response.json()) as { id: string };
  for (;;) {
    const { data } = (await client.graphql(`{ import(id: "${id}") { status } }`)).body;
    if (data.import.status === 'checked') return id;
    await setTimeout(200);
  }
}

/** Sends the requests that a new integration gets wrong, for the log of requests. */
async function refusedRequests(client: Client): Promise<void> {
  const lines = [{ description: 'Conseil', quantity: 1, unit_price: 10_000 }];
  const customer = { ice: ORDINARY, name: 'Atlas SARL' };
  const body = { amount: 12_000, currency: 'MAD', customer, lines };
  await expectStatus(422, client.post('/v1/invoices', { ...body, customer: { ...customer, ice: '123' } }));
  await expectStatus(422, client.post('/v1/invoices', { ...body, amount: 11_000 }));
  for (let nth = 0; nth < 3; nth++) await expectStatus(400, client.post('/v1/invoices', { ...body, lines: [] }));
  await expectStatus(404, client.get('/v1/invoices/inv_00000000-0000-4000-8000-000000000000'));
}

async function setProfile(client: Client): Promise<void> {
  const file = new URL('../samples/seller/profile.json', import.meta.url);
  const profile = JSON.parse(await readFile(file, 'utf8'));
  const mutation = `mutation($input: SellerProfileInput!) { updateSellerProfile(input: $input) { __typename } }`;
  await expectStatus(200, client.graphql(mutation, { input: profile }));
}

/** @returns the id of a delivery with a failed attempt, as soon as there is one */
async function refusedDelivery(client: Client): Promise<string> {
  const query = '{ webhookDeliveries(first: 50) { nodes { id attempts { status } } } }';
  for (;;) {
    const { nodes } = (await client.graphql(query)).body.data.webhookDeliveries;
    const refused = nodes.find(({ attempts }: { attempts: { status: number }[] }) => attempts[0]?.status === 503);
    if (refused) return refused.id;
    await setTimeout(200);
  }
}

/** @returns the path of an embedded page, with its token */
async function embed(client: Client, mutation: string, args: string): Promise<string> {
  const { body } = await client.graphql(
    `mutation { made: ${mutation}(${args}, origins: ["http://localhost"]) { ... on ${capital(mutation)}Payload { embed { url } } } }`,
  );
  const { pathname, hash } = new URL(body.data.made.embed.url);
  return pathname + hash;
}

const capital = (name: string) => name[0]?.toUpperCase() + name.slice(1);

async function expectStatus(status: number, answered: ReturnType<Client['get']>) {
  const answer = await answered;
  if (answer.status !== status || answer.body.errors)
    throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer;
}

async function openInvitation(db: Db, tenantId: string): Promise<string> {
  const grants = { isOperator: false, memberships: [{ tenantId, role: 'viewer' }] } as const;
  return (await invite(createPeopleRepository(db), { email: null, grants, invitedBy: null }, '')).link;
}
