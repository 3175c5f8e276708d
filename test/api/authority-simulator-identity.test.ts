import { sign, webcrypto, X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DOMImplementation, DOMParser, XMLSerializer } from '@xmldom/xmldom';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Application, Parse, SignedXml, setNodeDependencies } from 'xadesjs';
import xpath from 'xpath';
import { type Simulator, startSimulator } from '../../scripts/authority-simulator/simulator.ts';
import { certificateFindings } from '../../src/adapters/signing-key/certificate-findings.ts';
import { loadPkcs12 } from '../../src/adapters/signing-key/pkcs12.ts';
import { softwareKey } from '../../src/adapters/signing-key/software-key.ts';
import { trustOf } from '../../src/adapters/xades/certificate-trust.ts';
import { type AuthorityClient, authorityClient, digestOf, signedDocument } from '../support/authority-client.ts';
import { hasTool } from '../support/tools.ts';
import { xmlsec1Verifies } from '../unit/xades/xmlsec1.ts';

const hasXmlsec1 = hasTool('xmlsec1');

// Who may call, and what the authority signs.

let simulator: Simulator;
let client: AuthorityClient;
let ca: X509Certificate;

beforeAll(async () => {
  simulator = await startSimulator({ profile: 'synchronous', verify: 'none' });
  client = await authorityClient(simulator.settings);
  ca = new X509Certificate(await readFile(simulator.settings.DGI_CA));
});
afterAll(async () => {
  await client.close();
  await simulator.close();
});

describe('the token endpoint', () => {
  const seconds = () => Math.floor(Date.now() / 1000);

  test('issues short-lived opaque bearer tokens', async () => {
    const { status, body, headers } = await client.token();
    expect([status, headers['cache-control'], headers['authority-protocol']]).toEqual([200, 'no-store', '1']);
    expect(body).toEqual({
      access_token: expect.stringMatching(/^[\w-]{40,}$/),
      token_type: 'Bearer',
      expires_in: 300,
    });
    expect((await client.call('GET', '/v1/status', { token: body.access_token })).status).toBe(200);
  });

  test.each([
    ['another iss', () => ({ iss: 'x' })],
    ['another sub', () => ({ sub: 'x' })],
    ['another aud', () => ({ aud: 'https://authority.example/token' })],
    ['no aud', () => ({ aud: undefined })],
    ['no exp', () => ({ exp: undefined })],
    ['an exp in the past', () => ({ exp: seconds() - 60 })],
    ['an exp too far ahead', () => ({ exp: seconds() + 3600 })],
    ['an iat in the future', () => ({ iat: seconds() + 600 })],
    ['no jti', () => ({ jti: undefined })],
  ])('refuses an assertion with %s', async (_what, claims) => {
    expect(await client.token(claims())).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  });

  test('takes an aud that is a list', async () => {
    expect((await client.token({ aud: ['x', simulator.settings.DGI_TOKEN_URL] })).status).toBe(200);
  });

  test('refuses an assertion that was used before', async () => {
    expect((await client.token({ jti: 'once' })).status).toBe(200);
    expect((await client.token({ jti: 'once' })).body.error).toBe('invalid_client');
  });

  test('refuses an assertion of another key, and one without a signature', async () => {
    const { DGI_CLIENT_ID: id, DGI_TOKEN_URL: aud } = simulator.settings;
    const claims = { iss: id, sub: id, aud, exp: seconds() + 60, jti: 'other-key' };
    const jwt = (alg: string) =>
      [{ alg }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    const { privateKey } = await loadPkcs12(simulator.settings.SIGNING_P12, simulator.settings.SIGNING_P12_PASSPHRASE);
    const signature = sign('sha256', Buffer.from(jwt('ES256')), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    for (const assertion of [`${jwt('ES256')}.${signature.toString('base64url')}`, `${jwt('none')}.`, 'x', 'a.b.c'])
      expect(await client.token({}, { client_assertion: assertion })).toMatchObject({
        status: 401,
        body: { error: 'invalid_client' },
      });
  });

  test('refuses another grant, and another assertion type', async () => {
    expect((await client.token({}, { grant_type: 'password' })).body.error).toBe('unsupported_grant_type');
    expect((await client.token({}, { client_assertion_type: 'x' })).body.error).toBe('invalid_request');
    expect((await client.token({}, { client_id: 'x' })).body.error).toBe('invalid_client');
  });

  test('tokens expire and are revoked; a revoked client gets 400 invalid_grant for a while', async () => {
    let now = Date.now();
    const own = await startSimulator({ verify: 'none', tokenLife: 30_000, clock: () => now });
    const of = await authorityClient(own.settings);
    const { access_token: token } = (await of.token()).body;
    const call = async () => (await of.call('GET', '/v1/status', { token })).body;
    expect((await call()).status).toBe('up');
    now += 30_000;
    expect((await call()).error.code).toBe('token_expired');
    const { access_token: next } = (await of.token()).body;
    own.control.revokeTokens(60_000);
    expect((await of.call('GET', '/v1/status', { token: next })).body.error.code).toBe('token_invalid');
    expect(await of.token()).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    now += 60_000;
    expect((await of.token({ iat: Math.floor(now / 1000), exp: Math.floor(now / 1000) + 60 })).status).toBe(200);
    await Promise.all([of.close(), own.close()]);
  });

  test('RS256 works as ES256 does', async () => {
    const own = await startSimulator({ verify: 'none', clientKey: 'RS256' });
    const of = await authorityClient(own.settings);
    expect((await of.get('/v1/status')).status).toBe(200);
    await Promise.all([of.close(), own.close()]);
  });
});

describe('TLS', () => {
  test('a client without its certificate, or with another of the same authority, is refused', async () => {
    const { SIGNING_P12: file, SIGNING_P12_PASSPHRASE: passphrase } = simulator.settings;
    const without = await authorityClient(simulator.settings, { pfx: undefined, passphrase: undefined });
    const other = await authorityClient(simulator.settings, { pfx: await readFile(file), passphrase });
    for (const refused of [without, other]) {
      await expect(refused.token()).rejects.toThrow();
      await refused.close();
    }
    expect(simulator.control.counters().tls_failures).toBeGreaterThanOrEqual(2);
  });

  test('the certificate is of DGI_CA, for localhost, 127.0.0.1 and ::1', async () => {
    const { connect } = await import('node:tls');
    const { hostname, port } = new URL(simulator.url);
    const certificate = await new Promise<X509Certificate>((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), ca: String(ca) }, () => {
        const found = socket.getPeerX509Certificate();
        socket.destroy();
        if (found) resolve(found);
      });
      socket.on('error', reject);
    });
    expect(certificate.verify(ca.publicKey)).toBe(true);
    expect(certificate.checkHost('localhost')).toBe('localhost');
    expect([certificate.checkIP('127.0.0.1'), certificate.checkIP('::1')]).toEqual(['127.0.0.1', '::1']);
  });

  test('connections are refused, and accepted again', async () => {
    await simulator.control.setListening(false);
    const fresh = await authorityClient(simulator.settings);
    await expect(fresh.token()).rejects.toThrow(/ECONNREFUSED/);
    await simulator.control.setListening(true);
    expect((await fresh.token()).status).toBe(200);
    await fresh.close();
  });

  test('keys are rotated: the old one no longer works, the new one of the settings does', async () => {
    const own = await startSimulator({ verify: 'none' });
    const before = await authorityClient(own.settings);
    expect((await before.token()).status).toBe(200);
    await own.control.rotate('client-key');
    expect((await before.token()).status).toBe(401);
    await own.control.rotate('client');
    await expect(before.token()).rejects.toThrow();
    const after = await authorityClient(own.settings);
    expect((await after.token()).status).toBe(200);
    await own.control.rotate('foreign-server');
    const stranger = await authorityClient(own.settings);
    await expect(stranger.token()).rejects.toThrow(/certificate/);
    await own.control.rotate('server');
    expect((await stranger.token()).status).toBe(200);
    await Promise.all([before, after, stranger].map((each) => each.close()));
    await own.close();
  });

  test('the certificates for the service are accepted by it, and end when they are asked to', async () => {
    const own = await startSimulator({ verify: 'none', certificateLife: 7 * 86_400_000 });
    const { SIGNING_P12, SIGNING_P12_PASSPHRASE, DGI_CLIENT_P12, DGI_CLIENT_P12_PASSPHRASE } = own.settings;
    const signer = softwareKey(await loadPkcs12(SIGNING_P12, SIGNING_P12_PASSPHRASE));
    const findings = certificateFindings(signer, new Date());
    expect(findings).toMatchObject([{ level: 'warn', text: expect.stringMatching(/expires on .* in [67] days/) }]);
    expect(signer.certificateChain).toHaveLength(2);
    const { certificateChain } = await loadPkcs12(DGI_CLIENT_P12, DGI_CLIENT_P12_PASSPHRASE);
    expect(certificateChain[0]?.validToDate.getTime()).toBeLessThan(Date.now() + 8 * 86_400_000);
    await own.close();
  });
});

describe('what the authority signs', () => {
  test('a receipt verifies in xadesjs and xmlsec1, chains to DGI_CA, and stays the same', async () => {
    const document = await signedDocument();
    const { body } = await client.put('inv_receipt', document);
    const receipt = await client.get(`/v1/receipts/${body.dgi_id}`);
    expect(receipt).toMatchObject({ status: 200, headers: { 'content-type': 'application/xml' } });
    expect(receipt.text).toMatch(/^<Receipt xmlns="urn:authority:receipt:1"><DgiId>/);
    expect(receipt.text).toContain(`<DecidedAt>${body.decided_at}</DecidedAt>`);
    expect(await xadesjsVerifies(receipt.text)).toBe(true);
    expect(await xadesjsVerifies(receipt.text.replace('<Status>accepted', '<Status>rejected'))).toBe(false);
    if (hasXmlsec1) expect(await xmlsec1Verifies(Buffer.from(receipt.text), String(ca))).toBe(true);
    const certificate = certificateIn(receipt.text);
    expect(trustOf(certificate, [], [ca], new Date())).toMatchObject({ trusted: true });
    await simulator.control.rotate('receipts');
    expect((await client.get(`/v1/receipts/${body.dgi_id}`)).text).toBe(receipt.text);
    const next = await client.put('inv_next', await signedDocument());
    const signedAnew = (await client.get(`/v1/receipts/${next.body.dgi_id}`)).text;
    expect(certificateIn(signedAnew).raw.equals(certificate.raw)).toBe(false);
    expect(await xadesjsVerifies(signedAnew)).toBe(true);
    expect((await client.get('/v1/receipts/DGI-0')).body.error.code).toBe('unknown_receipt');
  });

  test('a cleared document is the submitted one when the clearance is cut out, whose signature holds', async () => {
    const document = await signedDocument();
    const { body } = await client.put('inv_cleared', document);
    const { text } = await client.get('/v1/submissions/inv_cleared/cleared');
    const [extension = ''] =
      /<ext:UBLExtension xmlns:ext="[^"]+"><ext:ExtensionURI>urn:authority:clearance:1<.*?<\/ext:UBLExtension>/s.exec(
        text,
      ) ?? [];
    expect(text.replace(extension, '')).toBe(String(document));
    expect(extension).toContain(`<Digest>${digestOf(document)}</Digest>`);
    expect(extension).toContain(`<DgiId>${body.dgi_id}</DgiId>`);
    if (hasXmlsec1) {
      const options = [
        '--id-attr:Id',
        'urn:authority:clearance:1:Clearance',
        '--node-xpath',
        "//*[local-name()='Clearance']/*[local-name()='Signature']",
      ];
      expect(await xmlsec1Verifies(Buffer.from(text), String(ca), options)).toBe(true);
      const changed = text.replace(`<DgiId>${body.dgi_id}`, '<DgiId>DGI-0');
      expect(await xmlsec1Verifies(Buffer.from(changed), String(ca), options)).toBe(false);
    }
  });
});

test('keys and ledger are kept in the data folder, which one simulator uses at a time', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'simulator-'));
  const first = await startSimulator({ dataDir, profile: 'synchronous', verify: 'none' });
  const of = await authorityClient(first.settings);
  const { body } = await of.put('inv_kept', await signedDocument());
  await of.close();
  await expect(startSimulator({ dataDir })).rejects.toThrow(/in use by another simulator/);
  await first.close();
  const second = await startSimulator({ dataDir, profile: 'synchronous', verify: 'none' });
  const { DGI_URL: _url, DGI_TOKEN_URL: _tokenUrl, ...kept } = first.settings;
  expect(second.settings).toMatchObject(kept);
  const again = await authorityClient(second.settings);
  expect((await again.get('/v1/submissions/inv_kept')).body).toEqual(body);
  await again.close();
  await second.close();
  await rm(dataDir, { recursive: true });
});

function certificateIn(receipt: string): X509Certificate {
  const [, encoded = ''] = /<ds:X509Certificate>([^<]+)</.exec(receipt) ?? [];
  return new X509Certificate(Buffer.from(encoded, 'base64'));
}

/** Whether xadesjs accepts an enveloped signature that is a child of the root, by the key of its certificate. */
async function xadesjsVerifies(xml: string): Promise<boolean> {
  setNodeDependencies({ DOMImplementation, DOMParser, XMLSerializer, xpath });
  Application.setEngine('node', webcrypto as Crypto);
  const document = Parse(xml);
  const verifier = new SignedXml(document);
  verifier.LoadXml(document.getElementsByTagNameNS('http://www.w3.org/2000/09/xmldsig#', 'Signature')[0] as Element);
  return verifier.Verify().catch(() => false);
}
