import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LocalClock } from '../../../src/adapters/authority/http/server-clock.ts';
import { type CertificateAuthority, createCertificateAuthority } from '../../support/certificate-authority.ts';
import { type OpenHttpAuthority, type OpenOptions, openHttpAuthority } from '../../support/http-authority.ts';
import {
  errorReply,
  type ReceivedRequest,
  type Reply,
  type ScriptedAuthority,
  sha256,
  shownSubmission,
  startScriptedAuthority,
} from '../../support/scripted-authority.ts';

const document = Buffer.from('<Invoice/>');
const submission = { submissionId: 'inv_1', customerIce: '001234567000062', sha256: sha256(document), document };
const TEN_MINUTES = 600_000;
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });

let ca: CertificateAuthority;
let server: ScriptedAuthority;
let opened: OpenHttpAuthority;
/** Valid tokens, and how many were issued. */
let tokens: Set<string>;
let issued: number;
/** The key that the token endpoint knows. */
let registered: KeyObject;
let lifeSeconds: number;

beforeAll(async () => {
  ca = await createCertificateAuthority('Authority of tokens');
});
beforeEach(async () => {
  [tokens, issued, registered, lifeSeconds] = [new Set(), 0, ec.publicKey, 300];
  server = await startScriptedAuthority(ca);
  server.token = issue;
  server.script = (request) => {
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    return tokens.has(token) ? { json: shownSubmission('inv_1', document) } : errorReply(401, 'token_invalid');
  };
});
afterEach(async () => {
  await opened.close();
  await server.close();
});

/** A token endpoint with a leeway of 30 s that goes by the server's clock. */
async function issue({ body }: ReceivedRequest): Promise<Reply> {
  const form = new URLSearchParams(body.toString());
  try {
    await jwtVerify(form.get('client_assertion') ?? '', registered, {
      issuer: 'fatoura',
      subject: 'fatoura',
      audience: `${server.url}/token`,
      clockTolerance: 30,
      currentDate: new Date(Date.now() + server.clockAhead),
      requiredClaims: ['jti', 'iat', 'nbf', 'exp'],
    });
  } catch (error) {
    return { status: 400, json: { error: 'invalid_client', error_description: (error as Error).message } };
  }
  const token = `token-${++issued}`;
  tokens.add(token);
  return { json: { access_token: token, token_type: 'Bearer', expires_in: lifeSeconds } };
}

async function open(options: OpenOptions = {}) {
  const all = { clientKey: ec.privateKey, tokenUrl: `${server.url}/token`, ...options };
  opened = await openHttpAuthority(server, ca, all);
  return opened.authority;
}

it('asks with an assertion of RFC 7523 and shows the token', async () => {
  const authority = await open();
  expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
  const form = new URLSearchParams(server.tokenRequests[0]?.body.toString());
  expect(Object.fromEntries(form)).toEqual({
    grant_type: 'client_credentials',
    client_id: 'fatoura',
    client_assertion: expect.any(String),
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  });
  const assertion = form.get('client_assertion') ?? '';
  expect(decodeProtectedHeader(assertion)).toEqual({ alg: 'ES256', typ: 'JWT' });
  expect(decodeJwt(assertion)).toMatchObject({ iss: 'fatoura', sub: 'fatoura', aud: `${server.url}/token` });
  expect(server.received[0]?.headers.authorization).toBe('Bearer token-1');
});

it('signs with RS256 if the key is RSA', async () => {
  registered = rsa.publicKey;
  const authority = await open({ clientKey: rsa.privateKey });
  expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
  const form = new URLSearchParams(server.tokenRequests[0]?.body.toString());
  expect(decodeProtectedHeader(form.get('client_assertion') ?? '').alg).toBe('RS256');
});

it('20 concurrent calls ask for one token', async () => {
  const authority = await open();
  await Promise.all(Array.from({ length: 20 }, () => authority.lookUp(submission)));
  expect(issued).toBe(1);
});

describe.each([
  ['ahead', TEN_MINUTES],
  ['behind', -TEN_MINUTES],
])("the server's clock is 10 minutes %s", (_name, clockAhead) => {
  it('the first answer teaches the offset, and later assertions are right at once', async () => {
    server.clockAhead = clockAhead;
    const authority = await open();
    expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
    expect(server.tokenRequests).toHaveLength(2);
    expect(Math.abs((authority.state().clockOffsetMs ?? 0) - clockAhead)).toBeLessThan(60_000);
    tokens.clear();
    expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
    expect(server.tokenRequests).toHaveLength(3);
  });

  it('a refusal that has another cause is not tried again', async () => {
    const authority = await open();
    expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
    tokens.clear();
    registered = rsa.publicKey;
    expect(await authority.submit(submission)).toMatchObject({ kind: 'not_held', reason: 'no_token' });
    expect(server.tokenRequests).toHaveLength(2);
  });
});

describe('a refused token', () => {
  it('is replaced, and the call made again at once', async () => {
    const authority = await open();
    expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
    tokens.clear();
    expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
    expect(server.received.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer token-1',
      'Bearer token-1',
      'Bearer token-2',
    ]);
  });

  it('is replaced for a look-up too', async () => {
    const authority = await open();
    expect(await authority.lookUp(submission)).toMatchObject({ kind: 'held' });
    tokens.clear();
    expect(await authority.lookUp(submission)).toMatchObject({ kind: 'held' });
  });

  it.each(['token_expired', 'token_invalid'])(
    '401 %s with a new token: not held, after one repetition',
    async (code) => {
      const authority = await open();
      server.script = () => errorReply(401, code);
      expect(await authority.submit(submission)).toMatchObject({ kind: 'not_held', reason: 'token_refused' });
      expect(server.received).toHaveLength(2);
      expect(await authority.lookUp(submission)).toMatchObject({ kind: 'unknown' });
    },
  );

  it('401 of something in between does not repeat the submission', async () => {
    const authority = await open();
    server.script = () => ({ ...errorReply(401, 'token_expired'), headers: { 'authority-protocol': null } });
    expect(await authority.submit(submission)).toMatchObject({ kind: 'unknown' });
    expect(server.received).toHaveLength(1);
  });

  it('refused to many at once: one new token', async () => {
    const authority = await open();
    await authority.lookUp(submission);
    tokens.clear();
    const answers = await Promise.all(Array.from({ length: 10 }, () => authority.lookUp(submission)));
    expect(answers.every(({ kind }) => kind === 'held')).toBe(true);
    expect(issued).toBe(2);
  });
});

describe('no token to be had: nothing was sent', () => {
  it.each<[string, Reply]>([
    ['400 invalid_grant', { status: 400, json: { error: 'invalid_grant', error_description: 'revoked' } }],
    ['401 invalid_client', { status: 401, json: { error: 'invalid_client' } }],
    ['500', { status: 500, text: '' }],
    ['a page', { text: '<html></html>' }],
    ['another kind of token', { json: { access_token: 'x', token_type: 'mac', expires_in: 5 } }],
    ['a token with a line break', { json: { access_token: 'x\r\nHost: y', token_type: 'bearer', expires_in: 5 } }],
    ['a life of the wrong type', { json: { access_token: 'x', token_type: 'bearer', expires_in: 'long' } }],
    ['an endless answer', { text: Buffer.alloc(1024 * 1024, ' ') }],
    ['a redirect', { status: 302, text: '', headers: { location: '/elsewhere' } }],
    ['a closed connection', { act: (_response, socket) => socket.destroy() }],
  ])('%s', async (_name, reply) => {
    server.token = () => reply;
    const authority = await open();
    expect(await authority.submit(submission)).toMatchObject({ kind: 'not_held', reason: 'no_token' });
    expect(await authority.lookUp(submission)).toMatchObject({ kind: 'unknown' });
    expect(await authority.probe()).toMatch(/token/);
    expect([server.received.length, server.capabilityRequests]).toEqual([0, 0]);
  });

  it('Retry-After of the token endpoint is kept', async () => {
    server.token = () => ({ status: 503, text: '', headers: { 'retry-after': '20' } });
    const authority = await open();
    expect(await authority.submit(submission)).toMatchObject({ reason: 'no_token', retryAfterMs: 20_000 });
  });

  it('after a refused token', async () => {
    const authority = await open();
    expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
    tokens.clear();
    server.token = () => ({ status: 400, json: { error: 'invalid_grant' } });
    expect(await authority.submit(submission)).toMatchObject({ kind: 'not_held', reason: 'no_token' });
    expect(server.received).toHaveLength(2);
  });
});

describe('a token endpoint that hangs after a refused token', () => {
  it('holds all calls no longer than its own time limit, and the next one asks again', async () => {
    const authority = await open({ parts: { tokenTimeoutMs: 1000 } });
    expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
    tokens.clear();
    server.token = () => new Promise(() => undefined);
    const start = performance.now();
    const calls = [authority.submit(submission), authority.submit(submission), authority.lookUp(submission)];
    const noToken = { kind: 'not_held', reason: 'no_token' };
    expect(await Promise.all(calls)).toMatchObject([noToken, noToken, { kind: 'unknown' }]);
    // One request for a token, or a second one for a call whose refusal came after it.
    expect(performance.now() - start).toBeLessThan(9000);
    server.token = issue;
    expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
  });
});

describe('renewal', () => {
  let skipped: number;
  const local: LocalClock = { wall: () => Date.now() + skipped, monotonic: () => performance.now() + skipped };
  /** Lets time pass here and at the server. */
  function skip(milliseconds: number): void {
    skipped = milliseconds;
    server.clockAhead = milliseconds;
  }
  beforeEach(() => skip(0));

  it("comes before the token's end, and not earlier", async () => {
    const authority = await open({ parts: { clock: local } });
    await authority.lookUp(submission);
    skip(200_000);
    await authority.lookUp(submission);
    expect(issued).toBe(1);
    skip(245_000);
    await authority.lookUp(submission);
    expect(issued).toBe(2);
  });

  it('that fails before the end leaves the old token in use', async () => {
    const authority = await open({ parts: { clock: local } });
    await authority.lookUp(submission);
    server.token = () => ({ status: 500, text: '' });
    skip(245_000);
    expect(await authority.lookUp(submission)).toMatchObject({ kind: 'held' });
    skip(305_000);
    expect(await authority.submit(submission)).toMatchObject({ kind: 'not_held', reason: 'no_token' });
    expect(authority.state().token).toMatchObject({ renewals: 1, failures: 2, endsInMs: 0 });
  });

  it('that is not answered keeps no call that has a valid token', async () => {
    const authority = await open({ parts: { clock: local } });
    await authority.lookUp(submission);
    server.token = () => new Promise(() => undefined);
    skip(245_000);
    const calls = [authority.lookUp(submission), authority.submit(submission)];
    expect(await Promise.all(calls)).toMatchObject([{ kind: 'held' }, { kind: 'held' }]);
    expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
    expect(authority.state().token).toMatchObject({ renewals: 1, failures: 0 });
  });

  it("goes by the server's clock when this machine's is set back", async () => {
    let wall = 0;
    const clock = { wall: () => Date.now() + skipped + wall, monotonic: local.monotonic };
    const authority = await open({ parts: { clock } });
    await authority.lookUp(submission);
    wall = -TEN_MINUTES;
    skip(245_000);
    await authority.lookUp(submission);
    expect(issued).toBe(2);
  });
});

it('a rotated DGI_CLIENT_KEY is taken without a restart', async () => {
  const authority = await open();
  expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
  tokens.clear();
  registered = rsa.publicKey;
  const pem = String(rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  writeFileSync(opened.files.key, pem.slice(0, 300));
  expect(await authority.submit(submission)).toMatchObject({ kind: 'not_held', reason: 'no_token' });
  writeFileSync(opened.files.key, pem);
  expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
});
