import { randomBytes, randomUUID } from 'node:crypto';
import type { CommandStartedEvent } from 'mongodb';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Authority, Decision } from '../../src/domain/authority/ports.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { invoicesOf, pendingInvoice } from '../support/invoices.ts';
import { sampled } from '../support/samples.ts';
import { startService, type TestService } from '../support/service.ts';

const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const FORGED = `whsec_${randomBytes(32).toString('base64')}`;
const BUDGET = 60;
const HOUR_MS = 3_600_000;
/** Forged callbacks are counted for their address; some of the tests send this many. */
const ADDRESS_LIMIT = 20_000;

let service: TestService;
let lookUps: string[] = [];
const decisions = new Map<string, Decision>();
const commands: CommandStartedEvent[] = [];

const AUTHORITY = {
  capabilities: () => ({
    decision: 'callback',
    lookUp: ['id'],
    clearedDocument: false,
    maxDocumentBytes: 5_242_880,
    limits: { submissionsPerMinute: 600, lookUpsPerMinute: 600, lookUpsPerSubmissionPerHour: BUDGET, concurrent: 16 },
  }),
  async lookUp({ submissionId }: { submissionId: string }) {
    lookUps.push(submissionId);
    const decision = decisions.get(submissionId) ?? null;
    const submission = { submissionId, decision, warnings: [], askAgainAfter: HOUR_MS };
    return { kind: 'held', requestId: null, submission };
  },
} as unknown as Authority;

beforeAll(async () => {
  const live = { authority: AUTHORITY, callbackSecret: SECRET };
  service = await startService({ RATE_LIMIT_ADDRESS: String(ADDRESS_LIMIT) }, undefined, true, live);
  service.app.store.client.on('commandStarted', (event) => commands.push(event));
});
afterAll(() => service.close());

const collection = () => service.app.store.db.collection<InvoiceDocument>('invoices');

/** Stores a live invoice that the authority holds undecided, with its own next look-up in an hour. @returns its id */
async function transmitted(changes: Record<string, unknown> = {}): Promise<string> {
  const invoice = pendingInvoice({ environment: 'live', createdAt: new Date(Date.now() + HOUR_MS) });
  await invoicesOf(service.app.store.db).insert(invoice, newCreationMoment().order, null);
  const $set = { status: 'transmitted', 'work.stage': 'decide', ...changes };
  await collection().updateOne({ _id: invoice.id }, { $set } as never);
  return invoice.id;
}

interface Callback {
  readonly message?: string;
  /** Signed so long after now, milliseconds. */
  readonly ahead?: number;
  readonly secret?: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
  readonly method?: string;
}

async function callback(id: string, given: Callback = {}, url = service.url): Promise<Response> {
  const { message = `msg_${randomUUID()}`, ahead = 0, secret = SECRET, method = 'POST' } = given;
  const at = new Date(Date.now() + ahead);
  const body = given.body ?? JSON.stringify({ id, status: 'accepted' });
  const answer = await fetch(`${url}/authority/callback`, {
    method,
    headers: {
      'Content-Type': 'application/json',
      'webhook-id': message,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(message, at, body),
      ...given.headers,
    },
    ...(method !== 'GET' && { body }),
  });
  await answer.clone().arrayBuffer();
  return answer;
}

/** The commands of hints for an invoice: a search and two updates for each. */
function hintsOf(id: string): CommandStartedEvent[] {
  return commands.filter(({ command }) => {
    const text = JSON.stringify(command);
    return text.includes('work.outcomeUnknown') && text.includes(id);
  });
}

describe('a signed callback', () => {
  it('has the submission looked up at once, and the look-up decides', async () => {
    const id = await transmitted();
    decisions.set(id, { outcome: 'rejected', problems: [], decidedAt: new Date() });
    const answer = await callback(id);
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    await expect.poll(async () => (await collection().findOne({ _id: id }))?.status).toBe('rejected');
    expect(lookUps.filter((each) => each === id)).toHaveLength(1);
  });

  it('changes nothing by itself, whatever it claims', async () => {
    const id = await transmitted();
    expect((await callback(id)).status).toBe(204);
    await expect.poll(() => lookUps).toContain(id);
    await expect
      .poll(async () => (await collection().findOne({ _id: id }))?.authorityAttempts?.at(-1))
      .toMatchObject({ purpose: 'look_up', outcome: 'received' });
    expect(await collection().findOne({ _id: id })).toMatchObject({ status: 'transmitted' });
  });

  it('of an unknown id, or of an invoice that is not live, is answered after the same work', async () => {
    const updates = async (id: string) => {
      commands.length = 0;
      expect((await callback(id)).status).toBe(204);
      const { length } = commands.filter(
        ({ commandName, command }) =>
          commandName === 'findAndModify' &&
          command.findAndModify === 'invoices' &&
          JSON.stringify(command).includes(id),
      );
      return length;
    };
    const [known, test] = [await transmitted(), await transmitted({ environment: 'test' })];
    const unknown = `inv_${randomUUID()}`;
    expect([await updates(unknown), await updates(test)]).toEqual([2, 2]);
    commands.length = 0;
    expect((await callback(known)).status).toBe(204);
    expect(hintsOf(known)).toHaveLength(3);
    expect(lookUps).not.toContain(test);
  });

  it('does nothing when it is replayed', async () => {
    // Of an invoice whose look-up it makes due. One without effect would be tried again some seconds later.
    const id = await transmitted();
    const message = `msg_${randomUUID()}`;
    commands.length = 0;
    expect((await callback(id, { message })).status).toBe(204);
    expect(hintsOf(id)).toHaveLength(3);
    await expect.poll(async () => (await collection().findOne({ _id: id }))?.authorityAttempts).toHaveLength(1);
    const replays = await Promise.all(Array.from({ length: 20 }, () => callback(id, { message })));
    expect(new Set(replays.map(({ status }) => status))).toEqual(new Set([204]));
    expect(hintsOf(id)).toHaveLength(3);
  });

  it.each<[string, Callback, number]>([
    ['of another media type', { headers: { 'Content-Type': 'text/plain' } }, 415],
    ['that is no JSON', { body: '{' }, 400],
    ['that is no object', { body: '[]' }, 400],
    ['that is null', { body: 'null' }, 400],
    ['without an id', { body: '{"status":"accepted"}' }, 400],
    ['without a status', { body: '{"id":"inv_1"}' }, 400],
    ['with a field too many', { body: '{"id":"inv_1","status":"accepted","dgi_id":"DGI-1"}' }, 400],
    ['with an id that is an operator', { body: '{"id":{"$gt":""},"status":"accepted"}' }, 400],
    ['with an endless id', { body: `{"id":"${'x'.repeat(300)}","status":"accepted"}` }, 400],
  ])('%s is refused in the error shape', async (_name, given, status) => {
    const answer = await callback('inv_1', given);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toEqual({
      error: { code: 'invalid_request', message: expect.any(String), param: null, status },
    });
  });
});

describe('a callback is refused', () => {
  it.each<[string, Callback, number]>([
    ['with the signature of another secret', { secret: FORGED }, 401],
    ['without a signature', { headers: { 'webhook-signature': '' } }, 401],
    ['with a signature from 6 minutes ago', { ahead: -360_000 }, 401],
    ['with a signature in 6 minutes', { ahead: 360_000 }, 401],
    ['of 4 KiB and one byte, signed or not', { body: 'x'.repeat(4097) }, 413],
    ['with a content coding', { headers: { 'Content-Encoding': 'gzip' } }, 415],
    ['by GET', { method: 'GET' }, 405],
    ['by PUT', { method: 'PUT' }, 405],
  ])('%s', async (_name, given, status) => {
    const id = await transmitted();
    const answer = await callback(id, given);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ error: { message: expect.any(String), status } });
    expect(await collection().findOne({ _id: id, 'work.dueAt': { $gt: new Date() } })).not.toBeNull();
  });

  it('where none is configured, like any unknown path', async () => {
    const other = await startService();
    try {
      expect((await callback('inv_1', {}, other.url)).status).toBe(404);
    } finally {
      await other.close();
    }
  });

  it('as one too many of an address, unless it is signed', async () => {
    const live = { authority: AUTHORITY, callbackSecret: SECRET };
    const other = await startService({ RATE_LIMIT_ADDRESS: '5' }, undefined, false, live);
    try {
      const statuses = [];
      for (let i = 0; i < 8; i++) statuses.push((await callback('inv_1', { secret: FORGED }, other.url)).status);
      expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
      for (let i = 0; i < 8; i++) expect((await callback('inv_1', {}, other.url)).status).toBe(204);
    } finally {
      await other.close();
    }
  });
});

const ROUNDS = 50;
const BATCHES = sampled(5);
/** Of four, two are forged, one is replayed and one is new. */
const AT_ONCE = sampled(40);

it(`${ROUNDS * BATCHES * AT_ONCE} callbacks, forged, replayed and signed for one invoice, stay within half of the budget of look-ups`, async () => {
  const id = await transmitted();
  lookUps = [];
  const message = `msg_${randomUUID()}`;
  for (let round = 0; round < ROUNDS; round++) {
    for (let batch = 0; batch < BATCHES; batch++) {
      const sent = Array.from({ length: AT_ONCE }, (_, i) => {
        if (i % 2) return callback(id, { secret: FORGED });
        return i % 4 ? callback(id, { message }) : callback(id);
      });
      const statuses = new Set((await Promise.all(sent)).map(({ status }) => status));
      expect(statuses).toEqual(new Set([401, 204]));
    }
    // The worker ends what was made due. Then time goes on: the last look-up was a while ago, within the hour.
    await expect.poll(async () => (await collection().findOne({ _id: id }))?.work?.token).toBeNull();
    await expect
      .poll(async () => Number((await collection().findOne({ _id: id }))?.work?.dueAt))
      .toBeGreaterThan(Date.now());
    const { authorityAttempts = [] } = (await collection().findOne({ _id: id })) ?? {};
    const earlier = authorityAttempts.map((each) => ({ ...each, at: new Date(each.at.getTime() - 10_000) }));
    // Unless another look-up was recorded meanwhile.
    const same = { _id: id, 'work.token': null, authorityAttempts: { $size: authorityAttempts.length } } as never;
    await collection().updateOne(same, { $set: { authorityAttempts: earlier } });
  }
  // The stage has a budget of its own, which may be used up before.
  const made = lookUps.filter((each) => each === id).length;
  expect(made).toBeGreaterThan(5);
  expect(made).toBeLessThanOrEqual(BUDGET / 2);
});
