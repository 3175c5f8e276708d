import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { FaultRule } from '../../scripts/authority-simulator/faults.ts';
import { type Simulator, startSimulator } from '../../scripts/authority-simulator/simulator.ts';
import { type AuthorityClient, authorityClient, digestOf, signedDocument } from '../support/authority-client.ts';
import { hasTool } from '../support/tools.ts';
import { xmlsec1Verifies } from '../unit/xades/xmlsec1.ts';

const hasXmlsec1 = hasTool('xmlsec1');

// Every fault of the simulator, as a client meets it.

const LIMITS = { submissions_per_minute: 10_000, lookups_per_minute: 10_000, lookups_per_submission_per_hour: 10_000 };
/** A client that waits no longer than this has a time-out; the simulator would answer never. */
const PATIENCE = 300;

let simulator: Simulator;
let client: AuthorityClient;

beforeAll(async () => {
  simulator = await startSimulator({ decisionDelay: 10, limits: LIMITS });
  client = await authorityClient(simulator.settings);
  await client.get('/v1/status');
});
afterEach(() => simulator.control.reset());
afterAll(async () => {
  await client.close();
  await simulator.close();
});

let serial = 0;

/** A document to submit, and a fault that happens to its id. */
async function prepared(rule: FaultRule) {
  const [id, document] = [`inv_${++serial}`, await signedDocument()];
  simulator.control.addFault({ submission: id, ...rule });
  return { id, document };
}

const isHeld = (id: string) => simulator.control.find(id) !== null;

describe('a submission', () => {
  test.each([
    ['unavailable', {}, 503, 'unavailable'],
    ['rate-limited', { retry_after: 9 }, 429, 'rate_limited'],
    ['token-invalid', {}, 401, 'token_invalid'],
    ['token-expired', {}, 401, 'token_expired'],
    ['error', {}, 403, 'forbidden'],
    ['error', { status: 400, code: 'bad_request' }, 400, 'bad_request'],
    ['error', { status: 409, code: 'digest_mismatch' }, 409, 'digest_mismatch'],
  ] as const)('%s %j is answered by an error and is not held', async (kind, more, status, code) => {
    const { id, document } = await prepared({ kind, ...more });
    const answer = await client.put(id, document);
    expect(answer).toMatchObject({ status, headers: { 'authority-protocol': '1' }, body: { error: { code } } });
    if ('retry_after' in more) expect(answer.headers['retry-after']).toBe('9');
    expect(isHeld(id)).toBe(false);
  });

  test.each([
    [500, false],
    [502, false],
    [504, true],
  ])('bare-error %i without a body, registered: %s', async (status, registered) => {
    const { id, document } = await prepared({ kind: 'bare-error', status, registered });
    expect(await client.put(id, document)).toMatchObject({ status, text: '' });
    expect(isHeld(id)).toBe(registered);
  });

  test.each([
    ['timeout-before-body', false],
    ['timeout-after-body', true],
  ] as const)('%s is never answered; registered: %s', async (kind, registered) => {
    const { id, document } = await prepared({ kind });
    const put = (timeout: number) =>
      client.call('PUT', `/v1/submissions/${id}`, {
        headers: { 'content-type': 'application/xml', 'content-digest': `sha-256=:${digest64(document)}:` },
        body: document,
        timeout,
      });
    await expect(put(registered ? 5_000 : PATIENCE)).rejects.toThrow(/timeout/i);
    expect(isHeld(id)).toBe(registered);
    await expect.poll(() => simulator.control.counters().puts.now).toBe(0);
  });

  test.each([
    ['reset-after-body', false, /ECONNRESET|other side closed|socket/],
    ['lost-reply', true, /ECONNRESET|other side closed|socket/],
  ] as const)('%s ends the connection; registered: %s', async (kind, registered, error) => {
    const { id, document } = await prepared({ kind });
    await expect(client.put(id, document)).rejects.toThrow(error);
    expect(isHeld(id)).toBe(registered);
  });

  test('slow is answered rightly, later', async () => {
    const { id, document } = await prepared({ kind: 'slow', delay: 200 });
    const started = performance.now();
    expect((await client.put(id, document)).status).toBe(202);
    expect(performance.now() - started).toBeGreaterThan(190);
  });

  test.each([200, 502, 503])('proxy-page %i is HTML and lacks Authority-Protocol', async (status) => {
    const { id, document } = await prepared({ kind: 'proxy-page', status });
    const answer = await client.put(id, document);
    expect([answer.status, answer.headers['authority-protocol']]).toEqual([status, undefined]);
    expect(answer.headers['content-type']).toMatch(/text\/html/);
    expect(answer.text).toContain('<h1>');
    expect(isHeld(id)).toBe(false);
  });

  test('no-protocol is right but for the header', async () => {
    const { id, document } = await prepared({ kind: 'no-protocol' });
    const { status, body, headers } = await client.put(id, document);
    expect([status, body.id, headers['authority-protocol']]).toEqual([202, id, undefined]);
  });

  test('truncated-json ends in the middle', async () => {
    const { id, document } = await prepared({ kind: 'truncated-json' });
    const { status, body, text } = await client.put(id, document);
    expect([status, body]).toEqual([202, undefined]);
    expect(text).toMatch(/^\{"id"/);
    expect(isHeld(id)).toBe(true);
  });

  test.each([
    ['wrong-id', 'id'],
    ['wrong-digest', 'digest'],
  ] as const)('%s', async (kind, member) => {
    const { id, document } = await prepared({ kind });
    const right: Record<string, string> = { id, digest: digestOf(document) };
    const { body } = await client.put(id, document);
    expect(body[member]).not.toBe(right[member]);
    expect({ ...body, [member]: right[member] }).toMatchObject(right);
    expect((await client.get(`/v1/submissions/${id}`)).body[member]).not.toBe(right[member]);
    expect(simulator.control.find(id)).toMatchObject(right);
  });

  test('duplicate-own: the original is this very submission', async () => {
    const { id, document } = await prepared({ kind: 'duplicate-own', nth: 1 });
    const { status, body } = await client.put(id, document);
    expect([status, body.error.code, body.error.original.id]).toEqual([409, 'duplicate', id]);
    expect(body.error.original.digest).toBe(digestOf(document));
    expect((await client.decided(id)).body.status).toBe('accepted');
  });

  test('duplicate-true: the document is held under another id, where it is decided', async () => {
    const { id, document } = await prepared({ kind: 'duplicate-true' });
    const { status, body } = await client.put(id, document);
    const { original } = body.error;
    expect([status, original.digest]).toEqual([409, digestOf(document)]);
    expect(original.id).not.toBe(id);
    expect((await client.get(`/v1/submissions/${id}`)).status).toBe(404);
    expect((await client.decided(original.id)).body.status).toBe('accepted');
    // Without the fault it is a duplicate still.
    simulator.control.reset();
    expect((await client.put(id, document)).body.error.original.id).toBe(original.id);
  });

  test("duplicate-false: the original is another's document, and nothing is held", async () => {
    const { id, document } = await prepared({ kind: 'duplicate-false' });
    const { status, body } = await client.put(id, document);
    expect([status, body.error.code]).toEqual([409, 'duplicate']);
    expect(body.error.original.digest).not.toBe(digestOf(document));
    expect(isHeld(id)).toBe(false);
  });

  test('stuck is processing until control decides, as it says', async () => {
    const { id, document } = await prepared({ kind: 'stuck' });
    await client.put(id, document);
    const { body } = await client.get(`/v1/submissions/${id}`);
    expect(body).toMatchObject({ status: 'processing', retry_after: 60 });
    const problems = [{ code: 'x', path: '/Invoice', message: 'Refusé.' }];
    expect(await simulator.control.decide(id, problems)).toMatchObject({ status: 'rejected', problems });
    expect((await client.get(`/v1/submissions/${id}`)).body).toMatchObject({ status: 'rejected', problems });
    // A decision is final.
    expect(await simulator.control.decide(id, [])).toMatchObject({ status: 'rejected' });
  });

  test('stuck with a delay is decided after it', async () => {
    const { id, document } = await prepared({ kind: 'stuck', delay: 30 });
    await client.put(id, document);
    expect((await client.decided(id)).body.status).toBe('accepted');
  });
});

describe('when a fault happens', () => {
  const statuses = async (id: string, count: number) => {
    const found = [];
    for (let call = 0; call < count; call++) found.push((await client.get(`/v1/submissions/${id}`)).status);
    return found;
  };

  test('nth, times and calls', async () => {
    const id = 'inv_nothing';
    simulator.control.addFault({ kind: 'unavailable', submission: id, nth: 2 });
    expect(await statuses(id, 3)).toEqual([404, 503, 404]);
    simulator.control.reset();
    simulator.control.addFault({ kind: 'unavailable', submission: id, times: 2 });
    expect(await statuses(id, 3)).toEqual([503, 503, 404]);
    simulator.control.reset();
    simulator.control.addFault({ kind: 'unavailable', calls: ['submit'] });
    expect(await statuses(id, 1)).toEqual([404]);
  });

  test("by the invoice's number, before and after it is held", async () => {
    const number = 'N-77';
    simulator.control.addFault({ kind: 'unavailable', number, nth: 1 });
    const [document, other] = [await signedDocument({ number }), await signedDocument()];
    expect((await client.put('inv_other', other)).status).toBe(202);
    expect((await client.put('inv_77', document)).status).toBe(503);
    expect((await client.put('inv_77', document)).status).toBe(202);
    simulator.control.addFault({ kind: 'bare-error', number, status: 502 });
    expect(await statuses('inv_77', 1)).toEqual([502]);
    expect((await client.get(`/v1/submissions?digest=${digestOf(document)}`)).status).toBe(502);
    expect(await statuses('inv_other', 1)).toEqual([200]);
  });

  test('by rate: the share, and the same again with the same seed', async () => {
    const run = async () => {
      const own = await startSimulator({ seed: 7, limits: LIMITS, verify: 'none' });
      const of = await authorityClient(own.settings);
      own.control.addFault({ kind: 'unavailable', calls: ['status'], rate: 0.2 });
      const found: number[] = [];
      for (let call = 0; call < 300; call++) found.push((await of.get('/v1/status')).status);
      await Promise.all([of.close(), own.close()]);
      return found;
    };
    const [first, second] = await Promise.all([run(), run()]);
    expect(first).toEqual(second);
    const failed = first.filter((status) => status === 503).length;
    expect(failed).toBeGreaterThan(30);
    expect(failed).toBeLessThan(90);
  });

  test('mixed: every kind that a call can have, and after it the document is there once at most', async () => {
    const own = await startSimulator({ seed: 3, decisionDelay: 1, limits: LIMITS, verify: 'none' });
    own.control.addFault({ kind: 'mixed', calls: ['submit'], rate: 0.9 });
    const of = await authorityClient(own.settings);
    /** On a loaded machine a call may end before the simulator has heard of it. */
    const isEnough = () => {
      const { faults, ledger } = own.control.counters();
      return Object.keys(faults).length > 12 && ledger.entries > 10;
    };
    for (let n = 0; n < 150 || !isEnough(); n++) {
      const document = Buffer.from(`<a>${n}</a>`);
      await of
        .call('PUT', `/v1/submissions/i${n}`, {
          headers: { 'content-type': 'application/xml', 'content-digest': `sha-256=:${digest64(document)}:` },
          body: document,
          timeout: 50,
        })
        .catch(() => undefined);
    }
    const { faults, ledger } = own.control.counters();
    expect(Object.keys(faults).length).toBeGreaterThan(12);
    expect(faults['duplicate-false']).toBeUndefined();
    expect(ledger.doubled).toEqual([]);
    expect(ledger.entries).toBeGreaterThan(10);
    await Promise.all([of.close(), own.close()]);
  }, 120_000);

  test('a rule that can never apply is refused', () => {
    const { control } = simulator;
    expect(() => control.addFault({ kind: 'stuck', calls: ['status'] })).toThrow(/cannot happen on status/);
    expect(() => control.addFault({ kind: 'timeout-before-body', number: 'N' })).toThrow(/name the submission/);
  });
});

describe('other calls', () => {
  test('the status page lies, both ways', async () => {
    simulator.control.addFault({ kind: 'status-lies' });
    expect((await client.get('/v1/status')).body.status).toBe('maintenance');
    simulator.control.setMaintenance({ scope: 'all' });
    expect((await client.get('/v1/status')).body.status).toBe('up');
  });

  test('a cleared document is missing', async () => {
    const own = await startSimulator({ profile: 'synchronous', verify: 'none' });
    const of = await authorityClient(own.settings);
    await of.put('inv_1', await signedDocument());
    own.control.addFault({ kind: 'cleared-missing', nth: 1 });
    expect((await of.get('/v1/submissions/inv_1/cleared')).status).toBe(404);
    expect((await of.get('/v1/submissions/inv_1/cleared')).status).toBe(200);
    await Promise.all([of.close(), own.close()]);
  });

  test.each([
    ['signature', false, /<DgiId>/],
    ['signer', false, /<DgiId>/],
    ['digest', true, /<Digest>(?!DIGEST)/],
    ['id', true, /<SubmissionId>(?!ID<)/],
    ['status', true, /<Status>rejected</],
  ] as const)('a receipt with a wrong %s; its signature is right: %s', async (what, verifies, pattern) => {
    const [id, document] = [`inv_${++serial}`, await signedDocument()];
    await client.put(id, document);
    const path = `/v1/receipts/${(await client.decided(id)).body.dgi_id}`;
    simulator.control.addFault({ kind: 'wrong-receipt', what, nth: 1 });
    const wrong = (await client.get(path)).text;
    expect(wrong.replace(digestOf(document), 'DIGEST').replace(`>${id}<`, '>ID<')).toMatch(pattern);
    const ca = await readFile(simulator.settings.DGI_CA, 'utf8');
    if (hasXmlsec1) expect(await xmlsec1Verifies(Buffer.from(wrong), ca)).toBe(verifies);
    const right = (await client.get(path)).text;
    expect(right).toContain(
      `<SubmissionId>${id}</SubmissionId><Digest>${digestOf(document)}</Digest><Status>accepted<`,
    );
    if (hasXmlsec1) expect(await xmlsec1Verifies(Buffer.from(right), ca)).toBe(true);
  });
});

describe('the clock', () => {
  test.each([-600_000, 600_000])('off by %i ms: the Date header and every time', async (offset) => {
    simulator.control.setClock(offset);
    const { headers } = await client.get('/v1/status');
    const date = Date.parse(headers.date ?? '');
    expect(Math.abs(date - (Date.now() + offset))).toBeLessThan(60_000);
    // An assertion by the client's own clock is refused, one by the server's is not.
    const at = Math.floor(date / 1000);
    expect((await client.token()).status).toBe(401);
    expect((await client.token({ iat: at, exp: at + 60 })).status).toBe(200);
  });
});

function digest64(document: Buffer): string {
  return Buffer.from(digestOf(document), 'hex').toString('base64');
}
