import { describe, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { CONTENT_LIMITS } from '../../src/domain/invoice/drafts/draft.ts';
import { MAX_DRAFTS } from '../../src/domain/limits.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import { PREVIEW_LINES } from '../../src/domain/preview.ts';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import { Client } from '../support/client.ts';
import { signedIn } from '../support/person.ts';
import { STAND_IN_PDF, type TestService, type TestTenant, withSharedService } from '../support/service.ts';

let service: TestService;
let tenant: TestTenant;
let client: Client;

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  tenant = await service.tenant(SPECIMEN_SELLER);
  client = new Client(service.url, tenant.secretKey);
});

const DRAFT = `id version content createdAt updatedAt updatedBy { kind actorId name }
  validation { valid problems { code param } warnings { code path } totals { total } }`;
const ERROR = '... on Error { __typename code message param status }';
const CREATE = `mutation ($content: DraftContent!) { done: createDraft(content: $content) {
  ... on CreateDraftPayload { draft { ${DRAFT} } } ${ERROR} } }`;
const UPDATE = `mutation ($id: ID!, $version: Int!, $content: DraftContent!) {
  done: updateDraft(id: $id, version: $version, content: $content) {
    ... on UpdateDraftPayload { draft { ${DRAFT} } } ${ERROR} } }`;
const DELETE = `mutation ($id: ID!, $version: Int!) { done: deleteDraft(id: $id, version: $version) {
  ... on DeleteDraftPayload { id } ${ERROR} } }`;

const WHOLE = {
  amount: 12_000,
  currency: 'MAD',
  customer: { ice: '001234567000089', name: 'Atlas', address: '1, rue X' },
  lines: [{ description: 'Conseil', quantity: 1, unitPrice: 10_000, taxRate: 20 }],
  terms: { dueDate: null, paymentMeans: 'transfer' },
  metadata: { order: '1' },
};

async function done(query: string, variables: Record<string, unknown>, as = client) {
  const { body } = await as.graphql(query, variables);
  return body.data?.done ?? body;
}
const create = async (content: unknown, as = client) => (await done(CREATE, { content }, as)).draft;
const read = async (id: string, as = client) =>
  (await as.graphql(`query ($id: ID!) { draft(id: $id) { ${DRAFT} } }`, { id })).body;
const newClient = async (profile = {}) => new Client(service.url, (await service.tenant(profile)).secretKey);

describe('createDraft', () => {
  it('keeps a member that looks like a promise, and lists it', async () => {
    const own = await newClient();
    const content = JSON.parse('{ "then": 1, "metadata": { "then": "x" } }');
    const draft = await create(content, own);
    expect(draft.content).toEqual(content);
    const { body } = await own.graphql('{ drafts { nodes { id content } } }');
    expect(body.data.drafts.nodes).toEqual([{ id: draft.id, content: draft.content }]);
  });

  it('keeps what is typed, and says what keeps it from being issued', async () => {
    const content = {
      amount: '120,00 ',
      customer: { ice: '12', name: '', phone: { mobile: true } },
      lines: [{ description: 'Conseil\u0000\ud800', quantity: '2 h', taxRate: 19 }, null],
      terms: { dueDate: 'demain' },
      'a.b': { $set: 1, __proto__: null },
    };
    const draft = await create(content);
    expect(draft).toMatchObject({ id: expect.stringMatching(/^drf_/), version: 1, content });
    expect(draft.updatedBy).toMatchObject({ kind: 'key', name: null });
    expect(draft.validation.valid).toBe(false);
    const params = draft.validation.problems.map(({ param }: { param: string }) => param);
    for (const param of [
      'amount',
      'currency',
      'customer.name',
      'customer.phone',
      'lines.0.description',
      'lines.0.quantity',
      'lines.0.unitPrice',
      'lines.0.taxRate',
      'lines.1',
      'terms.dueDate',
      'a.b',
    ])
      expect(params).toContain(param);
    expect((await read(draft.id)).data.draft).toEqual(draft);
  });

  it('answers exactly what validateInvoice answers', async () => {
    const input = { ...WHOLE, amount: 12_001, customer: { ice: '1', name: 'Atlas' } };
    const { validation } = await create(input);
    const query = `mutation ($input: InvoiceDraft!) { validateInvoice(input: $input) {
      valid problems { code param } warnings { code path } totals { total } } }`;
    expect(validation).toEqual((await client.graphql(query, { input })).body.data.validateInvoice);
    expect(validation.problems).toHaveLength(2);
    expect(validation.warnings.length).toBeGreaterThan(0);
    const { validation: whole } = await create(WHOLE);
    expect(whole).toMatchObject({ valid: true, problems: [], totals: { total: 12_000 } });
  });

  it('takes a content in the text of the operation', async () => {
    const query = `mutation ($name: String) { createDraft(content: { amount: 1.5, x: [true, null, $name], e: ENUM, customer: {} }) {
      ... on CreateDraftPayload { draft { content } } } }`;
    const { body } = await client.graphql(query, { name: 'N' });
    expect(body.data.createDraft.draft.content).toEqual({
      amount: 1.5,
      x: [true, null, 'N'],
      e: 'ENUM',
      customer: {},
    });
  });

  it('refuses what is no object, too deep or too large', async () => {
    const nested = (levels: number): unknown => (levels === 1 ? [] : [nested(levels - 1)]);
    const refused = async (content: unknown) => done(CREATE, { content });
    for (const content of ['text', 5, [], true, { x: nested(CONTENT_LIMITS.depth) }])
      expect(await refused(content)).toMatchObject({ code: 'invalid_request', param: 'content', status: 400 });
    expect(await create({ x: nested(CONTENT_LIMITS.depth - 1) })).toMatchObject({ version: 1 });
    // Fits into a request, and not into a draft: the numbers are longer as the service writes them.
    const sent = async (content: string) => {
      const request = JSON.stringify({ query: CREATE, variables: { content: {} } });
      const body = request.replace('"content":{}', `"content":${content}`);
      const { body: answer } = await client.post('/graphql', body, { 'Content-Type': 'application/json' });
      return answer.data?.done ?? answer.error;
    };
    const large = await sent(`{"note":"${'x'.repeat(850_000)}","x":[${'1e20,'.repeat(20_000)}1]}`);
    expect([large.code, large.message]).toEqual(['invalid_request', 'content is larger than 1024 KiB as JSON.']);
    const deep = await sent(`{"x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`);
    expect(deep).toMatchObject({ code: 'invalid_request', status: 400 });
  });

  it('keeps the largest content that a request holds', async () => {
    const content = { note: 'é'.repeat(500_000) };
    const { id } = await create(content);
    expect((await read(id)).data.draft.content).toEqual(content);
  });

  it('is bounded for each tenant and environment', { timeout: 60_000 }, async () => {
    const full = await service.tenant(SPECIMEN_SELLER);
    const rows = Array.from({ length: MAX_DRAFTS - 1 }, () => ({
      _id: newId('drf') as never,
      tenantId: full.id,
      environment: 'test',
      content: '{}',
      version: 1,
      ...newCreationMoment(),
    }));
    await service.app.store.db.collection('drafts').insertMany(rows);
    const owner = new Client(service.url, full.secretKey);
    const last = await create({}, owner);
    expect(last.version).toBe(1);
    expect(await done(CREATE, { content: {} }, owner)).toMatchObject({
      __typename: 'LimitReachedError',
      code: 'draft_limit_reached',
      status: 422,
    });
    const live = new Client(service.url, await service.liveKey(full.id));
    expect((await create({}, live)).version).toBe(1);
    await done(DELETE, { id: last.id, version: 1 }, owner);
    const answers = await Promise.all(Array.from({ length: 8 }, () => done(CREATE, { content: {} }, owner)));
    const refused = answers.filter(({ code }) => code === 'draft_limit_reached');
    const stored = { tenantId: full.id, environment: 'test' };
    const left = await service.app.store.db.collection('drafts').countDocuments(stored);
    expect([left, refused.length >= 7]).toEqual([MAX_DRAFTS - 1 + (8 - refused.length), true]);
    if (refused.length === 8) expect((await create({}, owner)).version).toBe(1);
  });
});

it('a live draft of an incomplete profile is kept, and says what the profile lacks', async () => {
  const { id } = await service.tenant({ legalName: 'Atlas' });
  const live = new Client(service.url, await service.liveKey(id));
  const { validation, version } = await create(WHOLE, live);
  expect(version).toBe(1);
  expect(validation.valid).toBe(false);
  expect(validation.problems).toContainEqual({ code: 'insufficient_scope', param: 'seller.ice' });
});

describe('updateDraft', () => {
  it('replaces the content, and counts versions', async () => {
    const made = await create(WHOLE);
    const { draft } = await done(UPDATE, { id: made.id, version: 1, content: { amount: 5 } });
    expect(draft).toMatchObject({ id: made.id, version: 2, content: { amount: 5 }, createdAt: made.createdAt });
    expect(draft.validation.valid).toBe(false);
    expect((await read(made.id)).data.draft).toEqual(draft);
  });

  it('refuses a version that is not the present one, and changes nothing', async () => {
    const { id } = await create({});
    await done(UPDATE, { id, version: 1, content: { a: 1 } });
    for (const version of [1, 3, 0, -1]) {
      const refused = await done(UPDATE, { id, version, content: { a: 2 } });
      expect(refused).toMatchObject({
        __typename: 'ConflictError',
        code: 'draft_changed',
        param: 'version',
        status: 409,
        message: expect.stringContaining('version 2'),
      });
    }
    expect((await read(id)).data.draft).toMatchObject({ version: 2, content: { a: 1 } });
  });

  it('is answered again to who repeats it', async () => {
    const { id } = await create({});
    const first = await done(UPDATE, { id, version: 1, content: { a: 1 } });
    expect(await done(UPDATE, { id, version: 1, content: { a: 1 } })).toEqual(first);
  });

  it('of twenty at once one succeeds, and the others are told', async () => {
    const { id } = await create({});
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, nth) => done(UPDATE, { id, version: 1, content: { nth } })),
    );
    const won = answers.filter(({ draft }) => draft);
    expect(won).toHaveLength(1);
    expect(answers.filter(({ code }) => code === 'draft_changed')).toHaveLength(19);
    expect((await read(id)).data.draft).toEqual(won[0].draft);
  });

  it('records one entry for changes that the same person makes one after the other', async () => {
    const owner = await signedIn(service, { memberships: [{ tenantId: tenant.id, role: 'owner' }] });
    const browser = new Client(service.url, owner.browser.credential(tenant.id));
    const { id } = await create({}, browser);
    const actions = async () => {
      const { body } = await browser.graphql(`{ auditLog(subject: "${id}") { nodes { action actor { kind } } } }`);
      return body.data.auditLog.nodes.map((each: { action: string; actor: { kind: string } }) => [
        each.action,
        each.actor.kind,
      ]);
    };
    for (const version of [1, 2]) await done(UPDATE, { id, version, content: { version } }, browser);
    for (const version of [3, 4]) await done(UPDATE, { id, version, content: { version } });
    const { draft } = await done(UPDATE, { id, version: 5, content: {} }, browser);
    expect(draft.updatedBy).toEqual({ kind: 'person', actorId: owner.id, name: 'Amina' });
    const expected = [
      ['draft_updated', 'person'],
      ['draft_updated', 'key'],
      ['draft_created', 'person'],
    ];
    expect(await actions()).toEqual(expected);
    const drafts = service.app.store.db.collection<{ _id: string }>('drafts');
    await drafts.updateOne({ _id: id }, { $set: { updatedAt: new Date(Date.now() - 3_601_000) } });
    await done(UPDATE, { id, version: 6, content: { later: true } }, browser);
    expect(await actions()).toEqual([['draft_updated', 'person'], ...expected]);
  });
});

describe('deleteDraft', () => {
  it('deletes the version that was read, once', async () => {
    const { id } = await create({});
    await done(UPDATE, { id, version: 1, content: { a: 1 } });
    expect(await done(DELETE, { id, version: 1 })).toMatchObject({ code: 'draft_changed' });
    expect(await done(DELETE, { id, version: 2 })).toEqual({ id });
    for (const query of [DELETE, UPDATE])
      expect(await done(query, { id, version: 2, content: {} })).toMatchObject({
        __typename: 'NotFoundError',
        code: 'resource_not_found',
        param: 'id',
        message: expect.stringContaining(id),
      });
    expect((await read(id)).errors[0].extensions).toMatchObject({ status: 404 });
  });
});

describe('drafts', () => {
  it('are listed newest first, page by page', async () => {
    const owner = await newClient();
    const ids: string[] = [];
    for (const nth of [0, 1, 2, 3, 4]) ids.unshift((await create({ nth }, owner)).id);
    const page = async (args: string) => {
      const { body } = await owner.graphql(
        `{ drafts(${args}) { nodes { id } pageInfo { hasNextPage hasPreviousPage } } }`,
      );
      const { nodes, pageInfo } = body.data.drafts;
      return [nodes.map(({ id }: { id: string }) => ids.indexOf(id)), pageInfo.hasNextPage, pageInfo.hasPreviousPage];
    };
    expect(await page('first: 2')).toEqual([[0, 1], true, false]);
    expect(await page(`first: 2, after: "${ids[1]}"`)).toEqual([[2, 3], true, true]);
    expect(await page(`last: 2, before: "${ids[3]}"`)).toEqual([[1, 2], true, true]);
    await done(UPDATE, { id: ids[4], version: 1, content: { late: true } }, owner);
    expect(await page('first: 5')).toEqual([[0, 1, 2, 3, 4], false, false]);
    const unknown = await owner.graphql(`{ drafts(after: "${newId('drf')}") { nodes { id } } }`);
    expect(unknown.body.errors[0].extensions).toMatchObject({ code: 'invalid_request', param: 'after' });
  });

  it('cut a page of large drafts', async () => {
    const owner = await newClient();
    for (const nth of [1, 2, 3, 4, 5]) await create({ nth, note: 'x'.repeat(1_000_000) }, owner);
    const { body } = await owner.graphql(
      '{ drafts(first: 5) { nodes { id validation { valid } } pageInfo { hasNextPage } } }',
    );
    expect(body.data.drafts).toMatchObject({ nodes: { length: 4 }, pageInfo: { hasNextPage: true } });
  });

  it('of another tenant or environment are not found', async () => {
    const { id } = await create(WHOLE);
    const live = new Client(service.url, await service.liveKey(tenant.id));
    for (const stranger of [await newClient(SPECIMEN_SELLER), live]) {
      expect((await read(id, stranger)).errors[0].extensions).toMatchObject({
        code: 'resource_not_found',
        status: 404,
      });
      for (const query of [UPDATE, DELETE])
        expect(await done(query, { id, version: 1, content: {} }, stranger)).toMatchObject({
          code: 'resource_not_found',
        });
      expect((await stranger.graphql('{ drafts { nodes { id } } }')).body.data.drafts.nodes).toEqual([]);
      expect((await stranger.graphql(`{ drafts(after: "${id}") { nodes { id } } }`)).body.errors).toHaveLength(1);
    }
    expect((await read(id)).data.draft.version).toBe(1);
  });
});

describe('draftPreview', () => {
  const preview = async (id: string, as = client) =>
    (await as.graphql('query ($id: ID!) { draftPreview(id: $id) }', { id })).body;

  it('is the PDF of whatever is typed', async () => {
    const { id } = await create({ customer: { name: 'Atlas' }, lines: [{ quantity: 'x' }] });
    const { data } = await preview(id);
    expect(data.draftPreview).toBe(`data:application/pdf;base64,${STAND_IN_PDF.toString('base64')}`);
  });

  it('says why there is none', async () => {
    const { id } = await create({ lines: [{ quantity: 2, unitPrice: Number.MAX_SAFE_INTEGER }] });
    const { errors } = await preview(id);
    expect(errors[0].extensions).toMatchObject({ code: 'invalid_request', param: 'lines' });
    const long = await create({ lines: Array(PREVIEW_LINES + 1).fill({}) });
    expect((await preview(long.id)).errors[0].message).toBe('A preview shows at most 500 lines.');
    for (const [of, as] of [
      [newId('drf'), client],
      [id, await newClient()],
    ] as const)
      expect((await preview(of, as)).errors[0].extensions).toMatchObject({ code: 'resource_not_found', param: 'id' });
  });
});
