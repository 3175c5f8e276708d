import { expect, it } from 'vitest';
import { createAudit } from '../../src/domain/audit/record-entries.ts';
import { AUDIT_ACTIONS, type AuditAction } from '../../src/domain/audit-actions.ts';
import type { RecordedEntry } from '../../src/domain/audit-entry.ts';
import { newId } from '../../src/domain/ids.ts';
import { schema } from '../../src/graphql/schema.ts';
import { createImportStore } from '../../src/storage/imports.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { CREATION } from '../support/graphql-access.ts';
import { anImport } from '../support/imports.ts';
import { type Browser, invite, mailedToken, signedIn } from '../support/person.ts';
import { type TestService, withSharedService } from '../support/service.ts';

let service: TestService;
withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
});

const FIELDS =
  'id at action environment subject address userAgent requestId actor { kind actorId name } details { name value }';
const AGENT = 'a browser of the test';

interface Entry {
  readonly id: string;
  readonly action: string;
  readonly environment: string | null;
  readonly subject: string | null;
  readonly requestId: string | null;
  readonly address: string | null;
  readonly userAgent: string | null;
  readonly actor: { readonly kind: string; readonly actorId: string | null; readonly name: string | null };
  readonly details: readonly { readonly name: string; readonly value: string }[];
}

/** A new tenant with an owner who is signed in. */
async function team() {
  const tenant = await service.tenant();
  const owner = await signedIn(service, { memberships: [{ tenantId: tenant.id, role: 'owner' }] });
  const by = (browser: Browser, environment: 'test' | 'live' = 'test') =>
    new Client(service.url, { ...browser.credential(tenant.id, environment), 'User-Agent': AGENT });
  const client = by(owner.browser);
  const entries = async (filter = ''): Promise<Entry[]> => {
    const { body } = await client.graphql(`{ auditLog(first: 100 ${filter}) { nodes { ${FIELDS} } } }`);
    return body.data.auditLog.nodes;
  };
  return { tenant, owner, client, by, entries };
}

/** A credit of an invoice of another system. */
const EARLIER = `{ number: "E 1", issueDate: "2025-03-31", reason: other, ${CREATION.slice(CREATION.indexOf('customer'))}`;

/** Mutations that change nothing. */
const NOT_RECORDED = ['validateInvoice', 'createInvoiceEmbed', 'createDeliveryLogEmbed'];

it('every mutation of the schema is recorded once: what, by whom, from where, and with no secret', async () => {
  const { tenant, owner, client, entries } = await team();
  const key = new Client(service.url, tenant.secretKey);
  const { body: made } = await key.post('/v1/invoices', invoiceBody());
  await key.settled(made.id);
  const others = await Promise.all([1, 2].map(() => key.post('/v1/invoices', invoiceBody())));
  const [toCredit = '', toReplace = ''] = others.map(({ body }) => String(body.id));
  await Promise.all([toCredit, toReplace].map((id) => key.settled(id)));
  const credited = await key.graphql(
    `mutation { creditInvoice(invoiceId: "${made.id}", input: { reason: error }) {
      ... on CreditInvoicePayload { creditNote { id } } } }`,
  );
  const creditNoteId = credited.body.data.creditInvoice.creditNote.id;
  const noted = `{ creditNote(id: "${creditNoteId}") { documents { pdf { ready } } } }`;
  await expect
    .poll(async () => (await key.graphql(noted)).body.data.creditNote.documents, { timeout: 30_000 })
    .toEqual({ pdf: { ready: true } });
  const drafted = async (content: string): Promise<string> => {
    const create = `mutation { createDraft(content: ${content}) { ... on CreateDraftPayload { draft { id } } } }`;
    return (await key.graphql(create)).body.data.createDraft.draft.id;
  };
  const other = await signedIn(service, { memberships: [{ tenantId: tenant.id, role: 'viewer' }] });
  const checked = async (): Promise<string> => {
    const imports = createImportStore(service.app.store.db);
    return (await imports.insert(anImport({ tenantId: tenant.id, environment: 'test' }, 'Confidential'))).id;
  };
  const ids: Record<string, string> = {
    INVOICE: made.id,
    TO_CREDIT: toCredit,
    TO_REPLACE: toReplace,
    CREDIT_NOTE: creditNoteId,
    DRAFT_OF_KEY: await drafted('{}'),
    ISSUED_DRAFT: await drafted(CREATION),
    IMPORT: await checked(),
    CHECKED_IMPORT: await checked(),
    PERSON: other.id,
    TENANT: tenant.id,
  };
  const secretPath = 'a-secret-of-the-receiver';
  const url = `https://hooks.example.com/${secretPath}`;
  // The next ones use what the former ones made.
  const mutations: readonly (readonly [
    mutation: string,
    answer: string,
    action: AuditAction,
    subject: string | null,
  ])[] = [
    ['createApiKey(kind: secret)', 'KEY: apiKey { id } token', 'api_key.created', 'KEY'],
    ['rotateApiKey(id: "KEY")', 'NEW_KEY: apiKey { id } token', 'api_key.rotated', 'NEW_KEY'],
    ['renameApiKey(id: "KEY", name: "Shop")', '', 'api_key.renamed', 'KEY'],
    ['revokeApiKey(id: "KEY")', '', 'api_key.revoked', 'KEY'],
    ['updateSellerProfile(input: { legalName: "Confidential" })', '', 'seller_profile.updated', 'TENANT'],
    [
      `createWebhookEndpoint(input: { url: "${url}", events: [invoice_accepted] })`,
      'ENDPOINT: endpoint { id } secret',
      'webhook_endpoint.created',
      'ENDPOINT',
    ],
    [
      `updateWebhookEndpoint(id: "ENDPOINT", input: { url: "${url}/2", active: true })`,
      '',
      'webhook_endpoint.updated',
      'ENDPOINT',
    ],
    ['rotateWebhookSecret(endpointId: "ENDPOINT")', 'secret', 'webhook_endpoint.secret_rotated', 'ENDPOINT'],
    ['sendTestWebhookEvent(type: invoice_accepted)', 'EVENT: event { id }', 'webhook_event.test_sent', 'EVENT'],
    ['resendWebhookEvent(eventId: "EVENT")', '', 'webhook_event.resent', 'EVENT'],
    [
      'resendWebhookDeliveries(selection: { endpointId: "ENDPOINT", state: failed })',
      '',
      'webhook_endpoint.deliveries_resent',
      'ENDPOINT',
    ],
    [`createInvoice(input: ${CREATION})`, 'CREATED: invoice { id }', 'invoice.created', 'CREATED'],
    [
      'creditInvoice(invoiceId: "TO_CREDIT", input: { reason: error })',
      'CREDITED: creditNote { id }',
      'credit_note.created',
      'CREDITED',
    ],
    [`creditEarlierInvoice(input: ${EARLIER})`, 'EARLIER: creditNote { id }', 'credit_note.created', 'EARLIER'],
    [
      `replaceInvoice(invoiceId: "TO_REPLACE", input: ${CREATION}, reason: error)`,
      'REPLACING: invoice { id }',
      'invoice.created',
      'REPLACING',
    ],
    ['createDraft(content: { number: "Confidential" })', 'DRAFT: draft { id }', 'draft.created', 'DRAFT'],
    ['updateDraft(id: "DRAFT_OF_KEY", version: 1, content: { number: "F 1" })', '', 'draft.updated', 'DRAFT_OF_KEY'],
    ['issueDraft(id: "ISSUED_DRAFT", version: 1)', '', 'draft.issued', 'ISSUED_DRAFT'],
    ['deleteDraft(id: "DRAFT", version: 1)', '', 'draft.deleted', 'DRAFT'],
    ['remapImport(id: "IMPORT", columns: [])', '', 'import.columns_chosen', 'IMPORT'],
    ['startImport(id: "CHECKED_IMPORT")', '', 'import.started', 'CHECKED_IMPORT'],
    ['discardImport(id: "IMPORT")', '', 'import.discarded', 'IMPORT'],
    ['deleteWebhookEndpoint(id: "ENDPOINT")', '', 'webhook_endpoint.deleted', 'ENDPOINT'],
    ['revokeDocumentUrls(id: "INVOICE")', '', 'invoice.document_urls_revoked', 'INVOICE'],
    ['resendInvoiceEmail(id: "INVOICE", to: "somebody@example.com")', '', 'invoice.email_resent', 'INVOICE'],
    ['revokeCreditNoteDocumentUrls(id: "CREDIT_NOTE")', '', 'credit_note.document_urls_revoked', 'CREDIT_NOTE'],
    [
      'resendCreditNoteEmail(id: "CREDIT_NOTE", to: "somebody@example.com")',
      '',
      'credit_note.email_resent',
      'CREDIT_NOTE',
    ],
    ['inviteMember(role: viewer, email: "guest@example.com")', 'link', 'member.invited', null],
    ['revokeInvitation(id: "INVITATION")', 'id', 'member.invitation_revoked', null],
    ['setMemberRole(id: "PERSON", role: developer)', '', 'member.role_changed', 'PERSON'],
    ['removeMember(id: "PERSON")', '', 'member.removed', 'PERSON'],
  ];
  const named = mutations.map(([mutation]) => mutation.slice(0, mutation.indexOf('(')));
  const all = Object.keys(schema.getMutationType()?.getFields() ?? {});
  expect([...named, ...NOT_RECORDED].sort()).toEqual(all.sort());

  const before = (await entries()).length;
  const secrets = [secretPath, 'Confidential', 'somebody@example.com', 'guest@example.com'];
  for (const [template, answer, action, subject] of mutations) {
    if (template.includes('INVITATION'))
      ids.INVITATION = (await client.graphql('{ invitations { id } }')).body.data.invitations[0].id;
    const mutation = template.replace(/"([A-Z_]+)"/g, (_, name) => `"${ids[name] ?? name}"`);
    const name = template.slice(0, template.indexOf('('));
    const payload = `${name.charAt(0).toUpperCase()}${name.slice(1)}Payload`;
    const fields = answer && `... on ${payload} { ${answer} }`;
    const sent = await client.graphql(
      `mutation { done: ${mutation} { __typename ${fields} ... on Error { message } } }`,
    );
    const done = sent.body.data.done;
    expect(done, mutation).toMatchObject({ __typename: payload });
    for (const [field, value] of Object.entries<{ id?: string }>(done)) if (value?.id) ids[field] = value.id;
    for (const secret of [done.token, done.secret, done.link]) if (secret) secrets.push(secret);
    const [newest] = await entries();
    expect(newest, mutation).toMatchObject({
      action: action.replace('.', '_'),
      environment: 'both' in AUDIT_ACTIONS[action] ? null : 'test',
      actor: { kind: 'person', actorId: owner.id, name: 'Amina' },
      subject: subject === null ? null : ids[subject],
      address: expect.stringMatching(/127\.0\.0\.1$/),
      userAgent: AGENT,
      requestId: sent.headers.get('request-id'),
    });
  }
  const recorded = await entries();
  expect(recorded.length - before).toBe(mutations.length);
  const text = JSON.stringify(recorded);
  for (const secret of secrets) expect(text).not.toContain(secret);
  const details = recorded.flatMap(({ details: each }) => each.map(({ name, value }) => `${name}: ${value}`));
  expect(details).toEqual(
    expect.arrayContaining([
      'fields: legalName',
      'fields: url, active',
      'host: hooks.example.com',
      'role: developer',
      'was: viewer',
      `replaces: ${ids.KEY}`,
      'count: 0',
      'type: invoice.accepted',
    ]),
  );
});

it('what is refused is not recorded, and what a key does over REST is', async () => {
  const { tenant, client, entries } = await team();
  const key = new Client(service.url, { Authorization: `Bearer ${tenant.secretKey}`, 'User-Agent': 'x'.repeat(500) });
  const before = (await entries()).length;
  await client.graphql('mutation { updateSellerProfile(input: { ice: "1" }) { __typename } }');
  await client.graphql(`mutation { revokeApiKey(id: "${newId('key')}") { __typename } }`);
  await key.post('/v1/webhook_endpoints', { url: 'http://127.0.0.1/', events: [] });
  const nowhere = `/v1/webhook_endpoints/${newId('we')}`;
  expect((await key.request('DELETE', nowhere)).status).toBe(404);
  expect((await entries()).length).toBe(before);

  const body = { url: 'https://example.com/hook', events: ['invoice.accepted'] };
  const { id } = (await key.post('/v1/webhook_endpoints', body)).body;
  const [entry] = await entries();
  expect(entry).toMatchObject({ action: 'webhook_endpoint_created', subject: id, environment: 'test' });
  expect(entry?.actor).toMatchObject({ kind: 'key', actorId: expect.stringMatching(/^key_/), name: null });
  expect(entry?.userAgent).toBe('x'.repeat(200));
});

it('people: signing in, joining, passwords; nothing of other tenants, nothing of failed attempts', async () => {
  const { tenant, owner, entries } = await team();
  const elsewhere = await team();
  const actions = async () =>
    (await entries()).map(({ action, actor, subject }) => `${action} ${actor.actorId} ${subject}`);
  // Joining begins a session, too.
  expect(await actions()).toEqual([`member_joined ${owner.id} ${owner.id}`]);
  const { email, password } = owner;
  await owner.browser.post('/auth/sign-in', { email, password: 'not the password' });
  expect((await actions()).length).toBe(1);
  await owner.browser.post('/auth/sign-in', { email, password });
  const newPassword = `${password}, another`;
  const change = { currentPassword: password, newPassword };
  expect((await owner.browser.post('/auth/change-password', change)).status).toBe(204);
  await owner.browser.post('/auth/request-password-reset', { email });
  await expect.poll(() => mailedToken(service, email)).not.toBeNull();
  const reset = { token: await mailedToken(service, email), newPassword: password };
  expect((await owner.browser.post('/auth/reset-password', reset)).status).toBe(204);
  await owner.browser.post('/auth/sign-in', { email, password });
  const token = await invite(service, { memberships: [{ tenantId: tenant.id, role: 'developer' }] });
  const guest = { token, email: `guest-${tenant.id}@example.com`, name: 'Guest', password: 'correct horse battery' };
  const joined = (await elsewhere.owner.browser.post('/auth/accept-invitation', guest)).body.person.id;

  const fresh = new Client(service.url, owner.browser.credential(tenant.id));
  const { nodes } = (await fresh.graphql(`{ auditLog { nodes { ${FIELDS} } } }`)).body.data.auditLog;
  const of = (name: string, id = owner.id) => ({ action: name, environment: null, subject: id });
  expect(nodes).toMatchObject([
    of('member_joined', joined),
    ...['signed_in', 'password_reset', 'password_changed', 'signed_in', 'joined'].map((name) => of(`member_${name}`)),
  ]);
  expect(nodes[0].details).toEqual([{ name: 'role', value: 'developer' }]);
  const others = (await elsewhere.by(elsewhere.owner.browser).graphql('{ auditLog { nodes { id } } }')).body;
  expect(JSON.stringify(others)).not.toContain(nodes[0].id);
});

it('owners read it by actor, by subject and page by page, in both environments; nobody else reads it', async () => {
  const { tenant, owner, client, by, entries } = await team();
  const key = new Client(service.url, tenant.secretKey);
  for (let i = 0; i < 3; i++)
    await key.post('/v1/webhook_endpoints', { url: `https://example.com/${i}`, events: ['invoice.accepted'] });
  const [newest] = await entries();
  await client.graphql(`mutation { deleteWebhookEndpoint(id: "${newest?.subject}") { __typename } }`);

  const names = (found: readonly Entry[]) => found.map(({ action }) => action.replace('webhook_endpoint_', ''));
  expect(names(await entries(`subject: "${newest?.subject}"`))).toEqual(['deleted', 'created']);
  expect(names(await entries(`actorId: "${owner.id}"`))).toEqual(['deleted', 'member_joined']);
  expect(names(await entries(`actorId: "${newest?.actor.actorId}"`))).toEqual(['created', 'created', 'created']);
  expect(await entries(`actorId: "${newId('per')}"`)).toEqual([]);

  const page = '{ auditLog(first: 2 AFTER) { nodes { id } pageInfo { hasNextPage endCursor } } }';
  const seen: string[] = [];
  for (let after = ''; ; ) {
    const { nodes, pageInfo } = (await client.graphql(page.replace('AFTER', after))).body.data.auditLog;
    seen.push(...nodes.map(({ id }: Entry) => id));
    if (!pageInfo.hasNextPage) break;
    after = `after: "${pageInfo.endCursor}"`;
  }
  expect(seen).toEqual((await entries()).map(({ id }) => id));
  const live = await by(owner.browser, 'live').graphql('{ auditLog { nodes { id } } }');
  expect(live.body.data.auditLog.nodes.length).toBe(seen.length);

  const stranger = await team();
  const foreign = `{ auditLog(first: 1, after: "${seen[0]}") { nodes { id } } }`;
  const refusals = [
    [stranger.client, foreign, /^after must be a cursor/],
    [client, `{ auditLog(actorId: "${owner.id}", subject: "we_1") { nodes { id } } }`, /cannot be combined/],
    [client, `{ auditLog(subject: "${'x'.repeat(81)}") { nodes { id } } }`, /subject must be an id/],
    [client, '{ auditLog(first: 101) { nodes { id } } }', /first must be an integer/],
    [key, '{ auditLog { nodes { id } } }', /Only people/],
  ] as const;
  for (const [who, query, message] of refusals)
    expect((await who.graphql(query)).body.errors?.[0]?.message, query).toMatch(message);
  const developer = await signedIn(service, { memberships: [{ tenantId: tenant.id, role: 'developer' }] });
  const refused = await by(developer.browser).graphql('{ auditLog { nodes { id } } }');
  expect(refused.body.errors[0].extensions.status).toBe(403);
});

it('a change stands when its entry cannot be stored: the log shows the entry, and the failure is reported', async () => {
  const [shown, failures]: [RecordedEntry[], unknown[]] = [[], []];
  const away = { insert: () => Promise.reject(new Error('the store is away')) };
  const audit = createAudit(
    away,
    (entry) => shown.push(entry),
    (failure) => failures.push(failure),
  );
  const actor = { kind: 'operator', id: null, name: null } as const;
  const entry = { action: 'tenant.created', tenantId: 'ten_1', environment: null, actor, origin: null } as const;
  await audit({ ...entry, subject: 'ten_1', details: {} });
  expect(shown).toMatchObject([{ ...entry, id: expect.stringMatching(/^aud_/) }]);
  expect(String(failures)).toContain('the store is away');
});

it('says which documents people have created, once each, and none of those of keys', async () => {
  const { tenant, client, owner, entries } = await team();
  const create = `mutation { createInvoice(input: ${CREATION}, idempotencyKey: "once") {
    ... on CreateInvoicePayload { invoice { id } replayed } } }`;
  const first = (await client.graphql(create)).body.data.createInvoice;
  const again = (await client.graphql(create)).body.data.createInvoice;
  expect([first.replayed, again.replayed, again.invoice.id]).toEqual([false, true, first.invoice.id]);
  await new Client(service.url, tenant.secretKey).post('/v1/invoices', invoiceBody());
  const created = (await entries()).filter(({ action }) => action === 'invoice_created');
  expect(created).toMatchObject([{ subject: first.invoice.id, actor: { actorId: owner.id } }]);
});
