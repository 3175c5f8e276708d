import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { HttpAuthority } from '../../../src/adapters/authority/http/authority-http.ts';
import { within } from '../../../src/domain/activity.ts';
import type { LookUpAnswer, SubmitAnswer } from '../../../src/domain/authority/ports.ts';
import { type CertificateAuthority, createCertificateAuthority } from '../../support/certificate-authority.ts';
import { type OpenHttpAuthority, openHttpAuthority } from '../../support/http-authority.ts';
import {
  CAPABILITIES,
  errorReply,
  type Reply,
  type ScriptedAuthority,
  sha256,
  shownSubmission,
  startScriptedAuthority,
} from '../../support/scripted-authority.ts';

// Every row of the protocol's table, at the adapter.

const document = Buffer.from('<Invoice>é</Invoice>');
const other = Buffer.from('<Invoice>another</Invoice>');
const submission = { submissionId: 'inv_1', customerIce: '001234567000062', sha256: sha256(document), document };
const HTML = '<!DOCTYPE html><html><body><h1>The requested URL was rejected</h1></body></html>';

let ca: CertificateAuthority;
let server: ScriptedAuthority;
let open: OpenHttpAuthority;
let authority: HttpAuthority;

beforeAll(async () => {
  ca = await createCertificateAuthority('Authority of outcomes');
});
beforeEach(async () => {
  server = await startScriptedAuthority(ca);
  open = await openHttpAuthority(server, ca);
  authority = open.authority;
});
afterEach(async () => {
  await open.close();
  await server.close();
});

async function submitted(reply: Reply): Promise<SubmitAnswer> {
  server.script = () => reply;
  const answer = await authority.submit(submission);
  expect(answer.requestId).toBe(server.received.at(-1)?.headers['x-request-id']);
  return answer;
}

async function lookedUp(reply: Reply): Promise<LookUpAnswer> {
  server.script = () => reply;
  return authority.lookUp(submission);
}

describe('a submission', () => {
  it('is one PUT of the very bytes with their digest and the id of the request', async () => {
    await submitted({ json: shownSubmission('inv_1', document) });
    expect(server.received).toHaveLength(1);
    const [{ method, path, headers, body }] = server.received as [(typeof server.received)[0]];
    expect({ method, path }).toEqual({ method: 'PUT', path: '/v1/submissions/inv_1' });
    expect(body.equals(document)).toBe(true);
    expect(headers['content-type']).toBe('application/xml');
    expect(headers['content-digest']).toBe(`sha-256=:${Buffer.from(submission.sha256, 'hex').toString('base64')}:`);
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('carries the trace of the invoice that it is made for, and none outside of one', async () => {
    await submitted({ json: shownSubmission('inv_1', document) });
    expect(server.received.at(-1)?.headers.traceparent).toBeUndefined();
    const parent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const child = `00-${'a'.repeat(32)}-${'c'.repeat(16)}-01`;
    const begun: unknown[] = [];
    const nothing = {
      set: () => undefined,
      rename: () => undefined,
      fail: () => undefined,
      end: () => begun.push('end'),
    };
    const tracing = {
      begin(name: string, start: object) {
        begun.push([name, start]);
        return { ...nothing, traceparent: child };
      },
    };
    const traced = await openHttpAuthority(server, ca, { parts: { tracing } });
    await within({ span: { ...nothing, traceparent: parent } }, () => traced.authority.submit(submission));
    await traced.close();
    expect(server.received.at(-1)?.headers.traceparent).toBe(child);
    expect(begun).toEqual([['authority submit', { kind: 'client', parent }], 'end']);
  });

  it.each([200, 202])('%i with the submission: held', async (status) => {
    const warnings = [{ code: 'w', path: '/Invoice', message: 'Attention.' }];
    expect(await submitted({ status, json: shownSubmission('inv_1', document, { warnings }) })).toMatchObject({
      kind: 'held',
      submission: {
        submissionId: 'inv_1',
        askAgainAfter: null,
        warnings,
        decision: { outcome: 'accepted', dgiId: 'DGI-1', decidedAt: new Date('2026-11-22T10:00:01Z') },
      },
    });
  });

  it.each(['received', 'processing'])('%s: held without a decision, with the time to ask again', async (status) => {
    const json = shownSubmission('inv_1', document, { status, decided_at: null, dgi_id: null, retry_after: 2.5 });
    expect(await submitted({ status: 202, json })).toMatchObject({
      kind: 'held',
      submission: { decision: null, askAgainAfter: 2500 },
    });
  });

  it('a refused document is one that was received and rejected, with its problems', async () => {
    const problems = [{ code: 'ice_unknown', path: null, message: "L'ICE est inconnu." }];
    const json = shownSubmission('inv_1', document, { status: 'rejected', dgi_id: null, problems });
    expect(await submitted({ json })).toMatchObject({
      kind: 'held',
      submission: { decision: { outcome: 'rejected', problems } },
    });
  });

  it.each([400, 413, 415])('%i with an error body: refused', async (status) => {
    expect(await submitted(errorReply(status, 'invalid_id'))).toMatchObject({
      kind: 'refused',
      code: 'invalid_id',
      message: 'Message de invalid_id.',
    });
  });

  it.each(['token_expired', 'token_invalid'])('401 %s without a token to renew: not held', async (code) => {
    expect(await submitted(errorReply(401, code))).toMatchObject({ kind: 'not_held', reason: 'token_refused' });
  });

  it('403: not held', async () => {
    expect(await submitted(errorReply(403, 'forbidden'))).toMatchObject({ kind: 'not_held', reason: 'forbidden' });
  });

  it('409 digest_mismatch: held with another document', async () => {
    expect(await submitted(errorReply(409, 'digest_mismatch', { held_digest: sha256(other) }))).toMatchObject({
      kind: 'digest_mismatch',
      heldDigest: sha256(other),
    });
  });

  it('409 digest_mismatch whose held digest is that of this document: unknown', async () => {
    const reply = errorReply(409, 'digest_mismatch', { held_digest: submission.sha256 });
    expect(await submitted(reply)).toMatchObject({ kind: 'unknown' });
  });

  it('409 duplicate whose original has our digest: held, under the id of the original', async () => {
    const original = shownSubmission('sub_77', document);
    expect(await submitted(errorReply(409, 'duplicate', { original }))).toMatchObject({
      kind: 'held',
      submission: { submissionId: 'sub_77', decision: { outcome: 'accepted' } },
    });
  });

  it('409 duplicate whose original has another digest: a duplicate of it', async () => {
    const original = shownSubmission('sub_77', other);
    expect(await submitted(errorReply(409, 'duplicate', { original }))).toMatchObject({
      kind: 'duplicate',
      original: 'sub_77',
    });
  });

  it('409 duplicate whose original has our id and another digest: a digest mismatch', async () => {
    const original = shownSubmission('inv_1', other);
    expect(await submitted(errorReply(409, 'duplicate', { original }))).toMatchObject({
      kind: 'digest_mismatch',
      heldDigest: sha256(other),
    });
  });

  it.each([undefined, null, {}, { ...shownSubmission('sub_77', document), digest: 'x' }])(
    '409 duplicate without a usable original (%j): unknown',
    async (original) => {
      expect(await submitted(errorReply(409, 'duplicate', { original }))).toMatchObject({ kind: 'unknown' });
    },
  );

  it('429 rate_limited: not held, waits for Retry-After', async () => {
    expect(await submitted(errorReply(429, 'rate_limited', { retryAfter: 7 }))).toMatchObject({
      kind: 'not_held',
      reason: 'rate_limited',
      retryAfterMs: 7000,
    });
  });

  it('503 unavailable: not held, waits for Retry-After', async () => {
    expect(await submitted(errorReply(503, 'unavailable', { retryAfter: 11 }))).toMatchObject({
      kind: 'not_held',
      reason: 'unavailable',
      retryAfterMs: 11_000,
    });
  });

  it.each(['10 minutes', '-1', 'Sun, 22 Nov 2026 10:00:00 GMT', '1e9'])(
    'a Retry-After that is no number of seconds (%s) is none',
    async (value) => {
      const reply = errorReply(503, 'unavailable');
      expect(await submitted({ ...reply, headers: { 'retry-after': value } })).toMatchObject({
        kind: 'not_held',
        retryAfterMs: null,
      });
    },
  );

  const unknown: [string, Reply][] = [
    ['5xx without an error body', { status: 500, text: '' }],
    ['503 without an error body', { status: 503, text: '', headers: { 'retry-after': '5' } }],
    ['5xx with another error', errorReply(500, 'internal_error')],
    ['503 with another error', errorReply(503, 'something_else')],
    ['409 with another error', errorReply(409, 'conflict')],
    ['401 with another error', errorReply(401, 'who_are_you')],
    ['429 with another error', errorReply(429, 'too_much')],
    ['403 without an error body', { status: 403, text: 'Forbidden' }],
    ['400 without an error body', { status: 400, json: {} }],
    ['404', errorReply(404, 'unknown_submission')],
    ['a redirect', { status: 307, text: '', headers: { location: '/v1/submissions/inv_2' } }],
    ['204', { status: 204, text: '' }],
    ['201 with the submission', { status: 201, json: shownSubmission('inv_1', document) }],
    [
      "a firewall's page with 200",
      { text: HTML, headers: { 'authority-protocol': null, 'content-type': 'text/html' } },
    ],
    ["a firewall's page with 502", { status: 502, text: HTML, headers: { 'authority-protocol': null } }],
    ["a firewall's page with 200 that copies the header", { text: HTML }],
    ...[400, 401, 403, 409, 429, 503].map((status): [string, Reply] => [
      `${status} without Authority-Protocol`,
      { ...errorReply(status, 'unavailable'), headers: { 'authority-protocol': null } },
    ]),
    [
      'the submission without Authority-Protocol',
      { json: shownSubmission('inv_1', document), headers: { 'authority-protocol': null } },
    ],
    [
      'the submission in another version of the protocol',
      { json: shownSubmission('inv_1', document), headers: { 'authority-protocol': '2' } },
    ],
    ['truncated JSON', { text: JSON.stringify(shownSubmission('inv_1', document)).slice(0, 80) }],
    ['JSON that is not UTF-8', { text: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]) }],
    ['JSON null', { text: 'null' }],
    ['JSON of another form', { json: [shownSubmission('inv_1', document)] }],
    ['another id', { json: shownSubmission('inv_2', document) }],
    ['another digest', { json: shownSubmission('inv_1', other) }],
    ['a digest in upper case', { json: shownSubmission('inv_1', { digest: submission.sha256.toUpperCase() }) }],
    ['an unknown status', { json: shownSubmission('inv_1', document, { status: 'cleared' }) }],
    ['accepted without dgi_id', { json: shownSubmission('inv_1', document, { dgi_id: null }) }],
    ['accepted with a dgi_id that is no id', { json: shownSubmission('inv_1', document, { dgi_id: 'a\r\nb' }) }],
    ['accepted without decided_at', { json: shownSubmission('inv_1', document, { decided_at: null }) }],
    ['accepted at no time', { json: shownSubmission('inv_1', document, { decided_at: 'yesterday' }) }],
    ['problems of the wrong type', { json: shownSubmission('inv_1', document, { problems: 'none' }) }],
    ['a retry_after of the wrong type', { json: shownSubmission('inv_1', document, { retry_after: '5' }) }],
    ['an answer of 2 MiB', { text: Buffer.alloc(2 * 1024 * 1024, ' ') }],
    ['headers of 32 KiB', { json: {}, headers: { 'x-long': 'x'.repeat(32 * 1024) } }],
  ];
  it.each(unknown)('anything else, %s: unknown', async (_name, reply) => {
    expect(await submitted(reply)).toMatchObject({ kind: 'unknown' });
    expect(server.received).toHaveLength(1);
  });

  it('the time that an unknown answer of the authority asks for is kept', async () => {
    const reply = { ...errorReply(500, 'internal_error'), headers: { 'retry-after': '9' } };
    expect(await submitted(reply)).toMatchObject({ kind: 'unknown', retryAfterMs: 9000 });
  });

  it('a document over the limit is refused without being sent', async () => {
    server.capabilities = { json: { ...CAPABILITIES, max_document_bytes: 10 } };
    expect(await authority.submit(submission)).toMatchObject({ kind: 'refused', code: 'document_too_large' });
    expect(server.received).toHaveLength(0);
  });
});

it.each(['.', '..', 'a b', 'é', ''])('the id %j is no id of the protocol', async (dgiId) => {
  expect(await submitted({ json: shownSubmission('inv_1', document, { dgi_id: dgiId }) })).toMatchObject({
    kind: 'unknown',
  });
});

describe('a look-up by id', () => {
  it('200: held', async () => {
    expect(await lookedUp({ json: shownSubmission('inv_1', document) })).toMatchObject({ kind: 'held' });
    expect(server.received[0]?.path).toBe('/v1/submissions/inv_1');
  });

  it('404 unknown_submission: absent', async () => {
    expect(await lookedUp(errorReply(404, 'unknown_submission'))).toMatchObject({ kind: 'absent' });
  });

  it.each<[string, Reply]>([
    ['404 of something in between', { status: 404, text: HTML, headers: { 'authority-protocol': null } }],
    ['404 with another error', errorReply(404, 'not_found')],
    ['404 without an error body', { status: 404, text: '' }],
    ['401', errorReply(401, 'token_invalid')],
    ['403', errorReply(403, 'forbidden')],
    ['409', errorReply(409, 'digest_mismatch', { held_digest: sha256(other) })],
    ['500', errorReply(500, 'internal_error')],
    ['503', errorReply(503, 'unavailable')],
    ['202', { status: 202, json: shownSubmission('inv_1', document) }],
    ['another id', { json: shownSubmission('inv_2', document) }],
    ['another digest', { json: shownSubmission('inv_1', other) }],
    ['a firewall page', { text: HTML, headers: { 'authority-protocol': null } }],
  ])('anything else tells nothing: %s', async (_name, reply) => {
    expect(await lookedUp(reply)).toMatchObject({ kind: 'unknown' });
  });

  it('another digest under the id that was asked for: told to operators', async () => {
    const answer = await lookedUp({ json: shownSubmission('inv_1', other) });
    expect(answer).toMatchObject({ kind: 'unknown', heldDigest: sha256(other) });
    expect(await lookedUp({ json: shownSubmission('inv_2', other) })).not.toHaveProperty('heldDigest');
    expect(await submitted({ json: shownSubmission('inv_1', other) })).not.toHaveProperty('heldDigest');
  });

  it('a look-up that the limits of the authority hold back: deferred, and nothing is asked', async () => {
    await lookedUp(errorReply(429, 'rate_limited', { retryAfter: 30 }));
    const before = server.received.length;
    expect(await authority.lookUp(submission)).toMatchObject({ kind: 'unknown', deferred: true, requestId: null });
    expect(server.received).toHaveLength(before);
  });

  it('429: tells nothing, waits for Retry-After', async () => {
    const reply = errorReply(429, 'rate_limited', { retryAfter: 30 });
    const limited = { kind: 'unknown', retryAfterMs: 30_000, rateLimited: true };
    expect(await lookedUp(reply)).toMatchObject(limited);
    expect(await authority.receipt({ dgiId: 'DGI-1', submissionId: 'inv_1' })).toMatchObject(limited);
    // Of something in between, it says nothing of the authority.
    server.script = () => ({ ...reply, headers: { 'authority-protocol': null } });
    expect(await authority.receipt({ dgiId: 'DGI-1', submissionId: 'inv_1' })).not.toHaveProperty('rateLimited');
  });
});

describe('a receipt or a cleared document', () => {
  const xml = '<?xml version="1.0"?>\n<r:Receipt xmlns:r="urn:x"><r:Receipt/><DgiId>é</DgiId></r:Receipt>\n';
  const fetched = async (text: string) => {
    server.capabilities = { json: { ...CAPABILITIES, cleared_document: true } };
    server.script = () => ({ text });
    await authority.probe();
    const kinds = [
      await authority.receipt({ dgiId: 'DGI-1', submissionId: 'inv_1' }),
      await authority.cleared('inv_1'),
    ].map(({ kind }) => kind);
    return kinds.join();
  };

  it('that was cut off, at any place: tells nothing, so that it is fetched again', async () => {
    const complete = Buffer.byteLength(xml) - 1;
    for (let length = 0; length < complete; length += 3) {
      const part = Buffer.from(xml).subarray(0, length).toString();
      expect([length, await fetched(part)]).toEqual([length, 'unknown,unknown']);
    }
    server.script = () => ({ text: xml.slice(0, 40) });
    expect(await authority.receipt({ dgiId: 'DGI-1', submissionId: 'inv_1' })).toMatchObject({
      message: expect.stringContaining('not complete'),
    });
  });

  it('that is complete, right or wrong: goes to its reader', async () => {
    for (const document of [xml, xml.trim(), '<Receipt/>', '<!DOCTYPE a []><a></a>', '<html><p>Sorry</p></html>'])
      expect([document, await fetched(document)]).toEqual([document, 'invalid,document']);
  });
});

describe('a look-up by digest, where only that is offered', () => {
  beforeEach(() => {
    server.capabilities = { json: { ...CAPABILITIES, lookup: ['digest', 'number'] } };
  });

  it('with our id: held', async () => {
    const data = [shownSubmission('sub_9', document), shownSubmission('inv_1', document)];
    expect(await lookedUp({ json: { data } })).toMatchObject({ kind: 'held', submission: { submissionId: 'inv_1' } });
    expect(server.received[0]?.path).toBe(`/v1/submissions?digest=${submission.sha256}`);
  });

  it('under another id: held under that id', async () => {
    const reply = { json: { data: [shownSubmission('sub_9', document)] } };
    expect(await lookedUp(reply)).toMatchObject({ kind: 'held', submission: { submissionId: 'sub_9' } });
  });

  it('with no submission: absent', async () => {
    expect(await lookedUp({ json: { data: [] } })).toMatchObject({ kind: 'absent' });
  });

  it.each<[string, Reply]>([
    [
      'another digest among them',
      { json: { data: [shownSubmission('inv_1', document), shownSubmission('x', other)] } },
    ],
    ['no list', { json: shownSubmission('inv_1', document) }],
    ['an error', errorReply(400, 'lookup_not_offered')],
  ])('anything else tells nothing: %s', async (_name, reply) => {
    expect(await lookedUp(reply)).toMatchObject({ kind: 'unknown' });
  });
});

it('no look-up is offered: it tells nothing', async () => {
  server.capabilities = { json: { ...CAPABILITIES, lookup: [] } };
  expect(await lookedUp(errorReply(404, 'unknown_submission'))).toMatchObject({ kind: 'unknown', requestId: null });
  expect(server.received).toHaveLength(0);
});
