import { generateKeyPairSync } from 'node:crypto';
import { KeyUsageFlags } from '@peculiar/asn1-x509';
import { describe, expect, test } from 'vitest';
import { type CertificateForm, type Issuer, issue } from '../../../scripts/authority-simulator/certificates.ts';
import { readTrusted, trustOf } from '../../../src/adapters/xades/certificate-trust.ts';
import { SIGNING_TIME } from './identities.ts';

const root = issue('Root', null);
const between = issue('Between', root);
const signer = issue('Signer', between, { ca: false });

function trust(of: Issuer, others: readonly Issuer[], anchors: readonly Issuer[], time = SIGNING_TIME) {
  const [others_, anchors_] = [others, anchors].map((list) => list.map(({ certificate }) => certificate));
  return trustOf(of.certificate, others_ ?? [], anchors_ ?? [], time);
}

const refused = (reason: RegExp | string) => ({ trusted: false, reason: expect.stringMatching(reason) });

test('a certificate is trusted if it is an anchor or was issued under one', () => {
  expect(trust(signer, [], [signer])).toMatchObject({ trusted: true, by: signer.certificate });
  expect(trust(signer, [between], [root])).toMatchObject({ trusted: true, by: root.certificate });
  // In any order, and with unrelated certificates present.
  expect(trust(signer, [signer, root, between, issue('X', null)], [issue('Y', null), root])).toMatchObject({
    trusted: true,
  });
  // An intermediate authority may be an anchor itself; its certificate need not be in the document.
  expect(trust(signer, [], [between])).toMatchObject({ trusted: true, by: between.certificate });
  expect(trust(signer, [], [between, root])).toMatchObject({ trusted: true, by: between.certificate });
});

test('it is not trusted because of certificates in the document, or because of a name', () => {
  expect(trust(signer, [between, root], [issue('Other', null)])).toMatchObject(refused('no trusted certificate'));
  expect(trust(signer, [between, root], [])).toMatchObject(refused('no trusted certificate'));
  expect(trust(signer, [], [root])).toMatchObject(refused('missing'));
  const namesake = issue('Root', null);
  expect(trust(signer, [between], [namesake])).toMatchObject(refused('no trusted certificate'));
  expect(trust(signer, [issue('Between', root)], [root])).toMatchObject(refused('no trusted certificate'));
});

describe('an issuer must be', () => {
  const under = (form: CertificateForm, depth = 1) => {
    const issuers = [issue('A', root, form)];
    for (let n = 1; n < depth; n++) issuers.push(issue(`A${n}`, issuers.at(-1)!));
    return trust(issue('S', issuers.at(-1)!, { ca: false }), issuers, [root]);
  };
  test.each<[string, CertificateForm, RegExp]>([
    ['an authority', { ca: false, usage: KeyUsageFlags.keyCertSign }, /not a certification authority|no trusted/],
    [
      'allowed to issue by its key usage',
      { usage: KeyUsageFlags.nonRepudiation },
      /not a certification authority|no trusted/,
    ],
    ['valid at the signing time, not only later', { from: new Date('2026-12-01') }, /was valid from/],
    ['valid at the signing time, not only earlier', { to: new Date('2026-11-01') }, /was valid from/],
    ['not issued with SHA-1', { hash: 'sha1' }, /algorithm that is not accepted/],
    ['without name constraints', { critical: '2.5.29.30' }, /name constraints/],
    ['without unknown critical extensions', { critical: '1.2.3.4' }, /critical extension/],
  ])('%s', (_what, form, reason) => {
    expect(under({})).toMatchObject({ trusted: true });
    expect(under(form)).toMatchObject(refused(reason));
  });

  test('within its path length constraint', () => {
    expect(under({ pathLength: 0 })).toMatchObject({ trusted: true });
    expect(under({ pathLength: 0 }, 2)).toMatchObject(refused('allows 0 authorities below it, but has 1'));
    expect(under({ pathLength: 1 }, 2)).toMatchObject({ trusted: true });
    expect(under({}, 8)).toMatchObject({ trusted: true });
    expect(under({}, 9)).toMatchObject(refused('no trusted certificate'));
  });

  test('of a strong key', () => {
    const weak = issue('W', null, { privateKey: generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey });
    expect(trust(issue('S', weak, { ca: false }), [], [weak])).toMatchObject(refused('too short'));
  });

  test('checked even if it is an anchor; only an anchor that is the signer itself is not', () => {
    const expired = issue('Old', null, { to: new Date('2026-11-01') });
    expect(trust(issue('S', expired, { ca: false }), [], [expired])).toMatchObject(refused('was valid from'));
    const selfMade = issue('Self', null, { ca: false });
    expect(trust(selfMade, [], [selfMade])).toMatchObject({ trusted: true });
    expect(trust(issue('S', selfMade, { ca: false }), [], [selfMade])).toMatchObject(
      refused('not a certification authority|no trusted'),
    );
  });

  test('free of unknown critical extensions, and so must the signer be', () => {
    expect(trust(issue('S', root, { ca: false, critical: '1.2.3.4' }), [], [root])).toMatchObject(refused('critical'));
  });
});

test('certificates that issued one another in every combination are visited once each', () => {
  const privateKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const loop = Array.from({ length: 15 }, () => issue('Loop', null, { privateKey }));
  const signedByLoop = issue('S', loop[0]!, { ca: false });
  const start = performance.now();
  expect(trust(signedByLoop, loop, [root])).toMatchObject({ trusted: false });
  expect(performance.now() - start).toBeLessThan(5000);
});

test('a file of trusted certificates contains one or several in PEM format', () => {
  const pem = `Root CA\n${root.certificate}\n${between.certificate}`;
  expect(readTrusted(pem).map(({ subject }) => subject)).toEqual(['CN=Root', 'CN=Between']);
  expect(() => readTrusted('hello')).toThrow(/no certificate in PEM format/);
  expect(() => readTrusted(`${pem}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----`)).toThrow(
    /certificate 3/,
  );
});
