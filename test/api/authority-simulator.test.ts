import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../scripts/authority-simulator/simulator.ts';
import {
  type AuthorityClient,
  authorityClient,
  contentDigest,
  digestOf,
  signedDocument,
} from '../support/authority-client.ts';
import { type Received, type Receiver, startReceiver } from '../support/receiver.ts';
import { firstOf } from '../support/samples.ts';

// The simulator's side of the protocol, seen by a bare client.

const LIMITS = { submissions_per_minute: 10_000, lookups_per_minute: 10_000, lookups_per_submission_per_hour: 10_000 };

let simulator: Simulator;
let client: AuthorityClient;

beforeAll(async () => {
  simulator = await startSimulator({ decisionDelay: 10, limits: LIMITS, maxDocumentBytes: 100_000 });
  client = await authorityClient(simulator.settings);
});
afterAll(async () => {
  await client.close();
  await simulator.close();
});

let serial = 0;
const newId = () => `inv_${++serial}`;

/** An accepted submission with its document. */
async function accepted(of = client) {
  const [id, document] = [newId(), await signedDocument()];
  await of.put(id, document);
  const { body } = await of.decided(id);
  expect(body.status).toBe('accepted');
  return { id, document, body };
}

describe('the calls', () => {
  test('capabilities are those of the profile', async () => {
    const { status, body, headers } = await client.get('/v1/capabilities');
    expect([status, headers['authority-protocol']]).toEqual([200, '1']);
    expect(body).toEqual({
      protocol: '1',
      decision: 'polling',
      lookup: ['id', 'digest'],
      cleared_document: false,
      max_document_bytes: 100_000,
      limits: { ...LIMITS, concurrent: 16 },
    });
  });

  test('a submission is received, processed and decided', async () => {
    const [id, document] = [newId(), await signedDocument({ ice: '001525713000084' })];
    const put = await client.put(id, document);
    expect(put.status).toBe(202);
    expect(put.body).toEqual({
      id,
      digest: digestOf(document),
      status: 'received',
      decided_at: null,
      dgi_id: null,
      received_at: expect.stringMatching(/^\d{4}-.*Z$/),
      problems: [],
      warnings: [expect.any(Object)],
      retry_after: 1,
    });
    const { body, status } = await client.decided(id);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id,
      digest: digestOf(document),
      status: 'accepted',
      problems: [],
      retry_after: null,
      dgi_id: expect.stringMatching(/^DGI-[0-9A-F]{16}$/),
      decided_at: expect.stringMatching(/Z$/),
      warnings: [{ code: 'ice_check_key', path: expect.stringMatching(/^\/Invoice\//), message: expect.any(String) }],
    });
  });

  test('the same id and digest again is the submission as it stands, without a second entry', async () => {
    const { id, document, body } = await accepted();
    const before = simulator.control.counters().ledger.entries;
    expect(await client.put(id, document)).toMatchObject({ status: 200, body });
    expect(simulator.control.counters().ledger).toMatchObject({ entries: before, doubled: [] });
  });

  test('of ten at the same time, one is registered and all are answered', async () => {
    const [id, document] = [newId(), await signedDocument()];
    const before = simulator.control.counters().ledger.entries;
    const answers = await Promise.all(Array.from({ length: 10 }, () => client.put(id, document)));
    expect(answers.map(({ body }) => body.digest)).toEqual(Array(10).fill(digestOf(document)));
    expect(simulator.control.counters().ledger).toMatchObject({ entries: before + 1, doubled: [] });
  });

  test('of one document under ten ids at the same time, one is registered; the others are duplicates', async () => {
    const document = await signedDocument();
    const before = simulator.control.counters().ledger.entries;
    const answers = await Promise.all(Array.from({ length: 10 }, () => client.put(newId(), document)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, ...Array(9).fill(409)]);
    expect(simulator.control.counters().ledger).toMatchObject({ entries: before + 1, doubled: [] });
  });

  test('a look-up by id of what is not held is 404 unknown_submission', async () => {
    expect(await client.get('/v1/submissions/inv_none')).toMatchObject({
      status: 404,
      body: { error: { code: 'unknown_submission', message: expect.any(String) } },
    });
  });

  test('a look-up by digest finds the submission, and nothing where nothing is held', async () => {
    const { document, body } = await accepted();
    const found = await client.get(`/v1/submissions?digest=${digestOf(document)}`);
    expect([found.status, found.body]).toEqual([200, { data: [body] }]);
    const none = await client.get(`/v1/submissions?digest=${'0'.repeat(64)}`);
    expect([none.status, none.body]).toEqual([200, { data: [] }]);
    expect((await client.get('/v1/submissions?digest=XY')).status).toBe(400);
  });

  test('there is no cleared document in this profile', async () => {
    const { id } = await accepted();
    expect(await client.get(`/v1/submissions/${id}/cleared`)).toMatchObject({
      status: 404,
      body: { error: { code: 'no_cleared_document' } },
    });
  });

  test('changes tell every decision once, in the order of their cursors', async () => {
    const start = (await client.get('/v1/changes')).body.high_water_mark;
    const ids = [(await accepted()).id, (await accepted()).id, (await accepted()).id];
    const first = await client.get(`/v1/changes?after=${start}&limit=2`);
    expect(first.body.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2));
    const second = await client.get(`/v1/changes?after=${first.body.next_cursor}&limit=1000`);
    expect(second.body.data).toEqual([(await client.get(`/v1/submissions/${ids[2]}`)).body]);
    expect(second.body.next_cursor).toBe(second.body.high_water_mark);
    const end = await client.get(`/v1/changes?after=${second.body.next_cursor}`);
    expect(end.body).toMatchObject({ data: [], next_cursor: second.body.next_cursor });
  });

  test.each(['after=x', 'after=c999999', 'limit=0', 'limit=1001', 'limit=x'])('changes refuse %s', async (query) => {
    expect((await client.get(`/v1/changes?${query}`)).status).toBe(400);
  });

  test('the status page tells the maintenance, which has its own page', async () => {
    expect((await client.get('/v1/status')).body).toEqual({ status: 'up', until: null });
    simulator.control.setMaintenance({ scope: 'submissions', retryAfter: 7 });
    const [id, document] = [newId(), await signedDocument()];
    expect((await client.get('/v1/status')).body.status).toBe('degraded');
    expect(await client.put(id, document)).toMatchObject({
      status: 503,
      headers: { 'retry-after': '7' },
      body: { error: { code: 'unavailable' } },
    });
    expect((await client.get(`/v1/submissions/${id}`)).status).toBe(404);
    simulator.control.setMaintenance({ scope: 'all', until: '2026-12-01T00:00:00Z' });
    expect((await client.get(`/v1/submissions/${id}`)).status).toBe(503);
    expect((await client.token()).status).toBe(503);
    expect((await client.get('/v1/status')).body).toEqual({ status: 'maintenance', until: '2026-12-01T00:00:00Z' });
    simulator.control.reset();
    expect((await client.put(id, document)).status).toBe(202);
  });
});

describe('the errors', () => {
  const put = (headers: Record<string, string>, body: string | Buffer) =>
    client.call('PUT', `/v1/submissions/${newId()}`, { headers, body });
  const xml = (body: string | Buffer) => ({
    'content-type': 'application/xml',
    'content-digest': contentDigest(Buffer.from(body)),
  });

  test.each([
    ['no Content-Digest', { 'content-type': 'application/xml' }, 400, 'invalid_digest'],
    ['a wrong Content-Digest', xml('b'), 400, 'invalid_digest'],
    ['a digest of another algorithm', { ...xml('a'), 'content-digest': 'md5=:YQ==:' }, 400, 'invalid_digest'],
    ['another media type', { ...xml('a'), 'content-type': 'application/json' }, 415, 'unsupported_media_type'],
    ['a compressed document', { ...xml('a'), 'content-encoding': 'gzip' }, 415, 'unsupported_media_type'],
  ])('%s', async (_what, headers, status, code) => {
    expect(await put(headers, 'a')).toMatchObject({ status, body: { error: { code } } });
  });

  test('an empty and a too large document', async () => {
    expect(await put(xml(''), '')).toMatchObject({ status: 400, body: { error: { code: 'empty_document' } } });
    const large = Buffer.alloc(100_001, 32);
    expect(await put(xml(large), large)).toMatchObject({
      status: 413,
      body: { error: { code: 'document_too_large' } },
    });
  });

  test('addresses and methods that are not the protocol', async () => {
    expect((await client.get('/v2/status')).status).toBe(404);
    expect((await client.get('/v1/submissions/a%20b')).status).toBe(400);
    expect((await client.get('/v1/submissions/%')).status).toBe(400);
    expect((await client.call('POST', '/v1/submissions')).status).toBe(405);
    expect(await client.call('DELETE', '/v1/submissions/inv_1')).toMatchObject({
      status: 405,
      headers: { 'authority-protocol': '1' },
    });
  });

  test('401 without a token, and with a wrong one', async () => {
    for (const token of [null, 'wrong']) {
      expect(await client.call('GET', '/v1/status', { token })).toMatchObject({
        status: 401,
        body: { error: { code: 'token_invalid' } },
      });
    }
  });

  test('409 digest_mismatch: the id is held with another document', async () => {
    const { id, document } = await accepted();
    expect(await client.put(id, await signedDocument())).toMatchObject({
      status: 409,
      body: { error: { code: 'digest_mismatch', held_digest: digestOf(document) } },
    });
    expect((await client.get(`/v1/submissions/${id}`)).body.digest).toBe(digestOf(document));
  });

  test('409 duplicate: the document is held under another id', async () => {
    const { document, body } = await accepted();
    const id = newId();
    expect(await client.put(id, document)).toMatchObject({
      status: 409,
      body: { error: { code: 'duplicate', original: body } },
    });
    expect((await client.get(`/v1/submissions/${id}`)).status).toBe(404);
  });

  test("409 duplicate: the seller's number is held with another document", async () => {
    const id = newId();
    await client.put(id, await signedDocument({ number: 'N-1' }));
    const { body } = await client.decided(id);
    const again = await client.put(newId(), await signedDocument({ number: 'N-1', ice: '001234567000088' }));
    expect(again).toMatchObject({ status: 409, body: { error: { code: 'duplicate', original: body } } });
  });
});

describe('documents that are rejected', () => {
  test.each([
    ['an unknown customer', { ice: '999000000000102' }, undefined, 'ice_unknown'],
    ['a duplicate', { ice: '999000000000296' }, undefined, 'duplicate_invoice'],
    ['a wrong total', {}, (xml: string) => xml.replace(/(<cbc:PayableAmount[^>]*>)\d+/, '$17'), 'amount_wrong'],
    ['what is not UBL', {}, () => '<x></x>', 'signature_invalid'],
  ])('%s', async (_what, form, change, code) => {
    const id = newId();
    const { status, body } = await client.put(id, await signedDocument(form, change));
    expect([status, body.status]).toEqual([202, 'received']);
    const decided = await client.decided(id);
    expect(decided.body).toMatchObject({
      status: 'rejected',
      dgi_id: null,
      problems: [{ code, message: expect.any(String) }],
    });
  });

  test('one whose signature does not cover it', async () => {
    const id = newId();
    await client.put(id, Buffer.from(String(await signedDocument()).replace('Prestation 1', 'Prestation 9')));
    const { body } = await client.decided(id);
    expect(body).toMatchObject({ status: 'rejected', problems: [{ code: 'signature_invalid' }] });
  });
});

describe('the other profiles', () => {
  test('synchronous: decided at once, with a cleared document, looked up by id only', async () => {
    const own = await startSimulator({ profile: 'synchronous' });
    const of = await authorityClient(own.settings);
    expect((await of.get('/v1/capabilities')).body).toMatchObject({
      decision: 'synchronous',
      lookup: ['id'],
      cleared_document: true,
    });
    const document = await signedDocument();
    const put = await of.put('inv_sync', document);
    expect([put.status, put.body.status, put.body.retry_after]).toEqual([200, 'accepted', null]);
    expect((await of.get(`/v1/submissions?digest=${digestOf(document)}`)).status).toBe(400);
    const cleared = await of.get('/v1/submissions/inv_sync/cleared');
    expect(cleared.headers['content-type']).toBe('application/xml');
    expect(cleared.text).toContain(`<DgiId>${put.body.dgi_id}</DgiId>`);
    expect((await of.get('/v1/submissions/inv_sync/cleared')).text).toBe(cleared.text);
    await of.put('inv_rejected', await signedDocument({ ice: '999000000000102' }));
    expect((await of.get('/v1/submissions/inv_rejected/cleared')).status).toBe(404);
    await Promise.all([of.close(), own.close()]);
  });

  describe('callback', () => {
    let receiver: Receiver;
    let own: Simulator;
    let of: AuthorityClient;

    beforeAll(async () => {
      receiver = await startReceiver();
      const callbackUrl = `${receiver.url}/authority/callback`;
      own = await startSimulator({ profile: 'callback', decisionDelay: 10, callbackUrl });
      of = await authorityClient(own.settings);
    });
    afterEach(() => {
      own.control.reset();
      receiver.answer((_request, response) => response.writeHead(204).end());
    });
    afterAll(async () => {
      await Promise.all([of.close(), own.close()]);
      await receiver.close();
    });

    const callsOf = (id: string) => receiver.received.filter(({ event }) => event.id === id);
    const verified = ({ body, headers }: Received) =>
      new Webhook(own.settings.DGI_CALLBACK_SECRET).verify(body, headers);
    const submit = async (id: string) => {
      expect((await of.put(id, await signedDocument())).body.retry_after).toBeNull();
      expect((await of.decided(id)).body.status).toBe('accepted');
    };

    test('the decision is announced with Standard Webhooks headers until it is taken, and can be polled', async () => {
      receiver.answer((_request, response) => response.writeHead(callsOf('inv_called').length === 1 ? 500 : 204).end());
      await submit('inv_called');
      await expect.poll(() => callsOf('inv_called').length).toBe(2);
      for (const call of callsOf('inv_called')) {
        expect(call.path).toBe('/authority/callback');
        expect(verified(call)).toEqual({ id: 'inv_called', status: 'accepted' });
      }
      expect(new Set(callsOf('inv_called').map(({ headers }) => headers['webhook-id'])).size).toBe(1);
      await expect.poll(() => own.control.counters().callbacks.sent).toBe(1);
    });

    test('it is lost, replayed, late or forged', async () => {
      for (const kind of ['lost', 'replayed', 'late', 'forged'] as const)
        own.control.addFault({ kind: `callback-${kind}`, submission: `inv_${kind}`, delay: 300 });
      for (const kind of ['lost', 'replayed', 'late', 'forged']) await submit(`inv_${kind}`);
      await expect.poll(() => callsOf('inv_late').length).toBe(1);
      await expect.poll(() => callsOf('inv_replayed').length).toBe(3);
      await expect.poll(() => callsOf('inv_forged').length).toBe(1);
      expect(callsOf('inv_lost')).toEqual([]);
      expect(new Set(callsOf('inv_replayed').map(({ headers }) => headers['webhook-id'])).size).toBe(1);
      expect(() => verified(callsOf('inv_forged')[0] as Received)).toThrow();
    });

    test('control sends forged and old ones in any number', async () => {
      expect(await own.control.callback({ id: 'inv_f', status: 'accepted', forged: true, count: 30 })).toEqual({
        204: 30,
      });
      expect(callsOf('inv_f')).toHaveLength(30);
      for (const call of callsOf('inv_f')) expect(() => verified(call)).toThrow(/No matching signature/);
      await own.control.callback({ id: 'inv_o', status: 'accepted', age: 360_000, count: 1 });
      expect(() => verified(callsOf('inv_o')[0] as Received)).toThrow(/too old/);
    });
  });
});

describe('magic ICEs', () => {
  test('slow-decision: processing first, with the delay that is left', async () => {
    const own = await startSimulator({ decisionDelay: 0, slowDecision: 60_000 });
    const of = await authorityClient(own.settings);
    await of.put('inv_slow', await signedDocument({ ice: '999000000000393' }));
    const { body } = await of.get('/v1/submissions/inv_slow');
    expect(body).toMatchObject({ status: 'processing' });
    expect(body.retry_after).toBeGreaterThan(30);
    expect(await own.control.decide('inv_slow')).toMatchObject({ status: 'accepted' });
    await Promise.all([of.close(), own.close()]);
  });

  test('unavailable-twice and unavailable are not held', async () => {
    const [twice, always] = [newId(), newId()];
    const document = await signedDocument({ ice: '999000000000490' });
    const statuses = [];
    for (let attempt = 0; attempt < 3; attempt++) {
      statuses.push((await client.put(twice, document)).status);
      if (attempt < 2) expect((await client.get(`/v1/submissions/${twice}`)).status).toBe(404);
    }
    expect(statuses).toEqual([503, 503, 202]);
    const never = await signedDocument({ ice: '999000000000587' });
    for (let attempt = 0; attempt < 4; attempt++) expect((await client.put(always, never)).status).toBe(503);
  });

  test('lost-reply: the connection is cut, and asked again it has accepted', async () => {
    const [id, document] = [newId(), await signedDocument({ ice: '999000000000684' })];
    await expect(client.put(id, document)).rejects.toThrow();
    expect((await client.decided(id)).body.status).toBe('accepted');
    expect((await client.put(id, document)).status).toBe(200);
  });

  test('slow-receipt: neither an answer nor a look-up before the receipt is due', async () => {
    let now = Date.now();
    const own = await startSimulator({ decisionDelay: 0, slowReceipt: 1500, clock: () => now });
    const of = await authorityClient(own.settings);
    const document = await signedDocument({ ice: '999000000000878' });
    const put = of.put('inv_late', document);
    await expect.poll(() => own.control.find('inv_late')).not.toBeNull();
    expect(await of.get('/v1/submissions/inv_late')).toMatchObject({ status: 503, headers: { 'retry-after': '2' } });
    expect((await put).body.id).toBe('inv_late');
    now += 1500;
    expect((await of.decided('inv_late')).body.status).toBe('accepted');
    await Promise.all([of.close(), own.close()]);
  });

  test('999000000000781 is an ordinary customer', async () => {
    const id = newId();
    await client.put(id, await signedDocument({ ice: '999000000000781' }));
    expect((await client.decided(id)).body.status).toBe('accepted');
  });
});

describe('limits', () => {
  test('submissions and look-ups a minute, and look-ups of one an hour, are sliding windows', async () => {
    let now = Date.now();
    const own = await startSimulator({
      decisionDelay: 0,
      verify: 'none',
      clock: () => now,
      tokenLife: 86_400_000,
      limits: { submissions_per_minute: 2, lookups_per_minute: 4, lookups_per_submission_per_hour: 3 },
    });
    const of = await authorityClient(own.settings);
    const put = async (id: string) => (await of.put(id, Buffer.from(`<a>${id}</a>`))).status;
    expect([await put('a'), await put('b')]).toEqual([200, 200]);
    now += 20_000;
    const third = await of.put('c', Buffer.from('<a>c</a>'));
    expect(third).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
    expect(third.headers['retry-after']).toBe('40');
    now += 40_000;
    expect(await put('c')).toBe(200);

    const look = async (id: string) => (await of.get(`/v1/submissions/${id}`)).status;
    expect([await look('a'), await look('a'), await look('a'), await look('a')]).toEqual([200, 200, 200, 429]);
    now += 60_000;
    expect([await look('a'), await look('b')]).toEqual([429, 200]);
    now += 3_600_000;
    expect(await look('a')).toBe(200);
    expect(own.control.counters().lookups.per_minute).toEqual({ peak: 4, submission: 'a' });
    await Promise.all([of.close(), own.close()]);
  });

  test('concurrent submissions', async () => {
    const own = await startSimulator({ decisionDelay: 0, verify: 'none', limits: { concurrent: 2 } });
    own.control.addFault({ kind: 'slow', calls: ['submit'], delay: 4_000, times: 2 });
    const of = await authorityClient(own.settings);
    const slow = ['a', 'b'].map((id) => of.put(id, Buffer.from(`<a>${id}</a>`)));
    await expect.poll(() => own.control.counters().puts.now).toBe(2);
    expect((await of.put('c', Buffer.from('<a>c</a>'))).status).toBe(429);
    expect((await Promise.all(slow)).map(({ status }) => status)).toEqual([200, 200]);
    expect(own.control.counters().puts.peak).toBe(3);
    await Promise.all([of.close(), own.close()]);
  });
});

test('without verification, magic ICEs and numbers still count', async () => {
  const own = await startSimulator({ decisionDelay: 0, verify: 'none' });
  const of = await authorityClient(own.settings);
  const unknown = await of.put('inv_1', await signedDocument({ ice: '999000000000102', number: 'N-2' }));
  expect(unknown.body.problems).toMatchObject([{ code: 'ice_unknown' }]);
  expect((await of.put('inv_2', await signedDocument({ number: 'N-2' }))).status).toBe(409);
  expect((await of.put('inv_3', Buffer.from('no XML'))).body.status).toBe('accepted');
  await Promise.all([of.close(), own.close()]);
});

test('closing ends what is under way without an error', async () => {
  for (const round of firstOf([0, 1, 2, 3, 4], 2)) {
    const own = await startSimulator({ decisionDelay: round, verify: round % 2 === 0 ? 'none' : 'full' });
    const of = await authorityClient(own.settings);
    await of.get('/v1/status');
    const documents = await Promise.all(Array.from({ length: 12 }, () => signedDocument()));
    const answers = documents.map((document, n) => of.put(`inv_${n}`, document).catch(() => null));
    if (round > 0) await Promise.race(answers);
    await own.close();
    await Promise.all(answers);
    await of.close();
  }
  // A rejection that nobody handles would fail the run.
  await new Promise((resolve) => setTimeout(resolve, 50));
});
