import { generateKeyPairSync } from 'node:crypto';
import { KeyUsageFlags } from '@peculiar/asn1-x509';
import { describe, expect, test } from 'vitest';
import { readTrusted, trustOf } from '../../../src/adapters/xades/certificate-trust.ts';
import { type CertificateForm, type Issuer, issue } from '../../support/certificate-chain.ts';
import { SIGNING_TIME } from './identities.ts';

const root = issue('Root', null);
const between = issue('Between', root);
const signer = issue('Signer', between, { ca: false });

function trust(of: Issuer, others: readonly Issuer[], anchors: readonly Issuer[], time = SIGNING_TIME) {
  const [others_, anchors_] = [others, anchors].map((list) => list.map(({ certificate }) => certificate));
  return trustOf(of.certificate, others_ ?? [], anchors_ ?? [], time);
}

const refused = (reason: RegExp | string) => ({ trusted: false, reason: expect.stringMatching(reason) });

test('a certificate is trusted that is among the trusted, or was issued under one of them', () => {
  expect(trust(signer, [], [signer])).toMatchObject({ trusted: true, by: signer.certificate });
  expect(trust(signer, [between], [root])).toMatchObject({ trusted: true, by: root.certificate });
  // Whatever the order, and whatever else is there.
  expect(trust(signer, [signer, root, between, issue('X', null)], [issue('Y', null), root])).toMatchObject({
    trusted: true,
  });
  // An authority between may be trusted itself, and its certificate need not be in the document.
  expect(trust(signer, [], [between])).toMatchObject({ trusted: true, by: between.certificate });
  expect(trust(signer, [], [between, root])).toMatchObject({ trusted: true, by: between.certificate });
});

test('and by nothing that the document brings, nor by a name', () => {
  expect(trust(signer, [between, root], [issue('Other', null)])).toMatchObject(refused('no trusted certificate'));
  expect(trust(signer, [between, root], [])).toMatchObject(refused('no trusted certificate'));
  expect(trust(signer, [], [root])).toMatchObject(refused('missing'));
  const namesake = issue('Root', null);
  expect(trust(signer, [between], [namesake])).toMatchObject(refused('no trusted certificate'));
  expect(trust(signer, [issue('Between', root)], [root])).toMatchObject(refused('no trusted certificate'));
});

describe('an issuer must be one that may issue', () => {
  const under = (form: CertificateForm, depth = 1) => {
    const issuers = [issue('A', root, form)];
    for (let n = 1; n < depth; n++) issuers.push(issue(`A${n}`, issuers.at(-1)!));
    return trust(issue('S', issuers.at(-1)!, { ca: false }), issuers, [root]);
  };
  test.each<[string, CertificateForm, RegExp]>([
    ['an authority', { ca: false, usage: KeyUsageFlags.keyCertSign }, /no certification authority|no trusted/],
    ['with the key usage', { usage: KeyUsageFlags.nonRepudiation }, /no certification authority|no trusted/],
    ['valid then: not yet', { from: new Date('2026-12-01') }, /was valid from/],
    ['valid then: no more', { to: new Date('2026-11-01') }, /was valid from/],
    ['not issued with SHA-1', { hash: 'sha1' }, /algorithm that is not taken/],
    ['without name constraints', { critical: '2.5.29.30' }, /name constraints/],
    ['without unknown critical extensions', { critical: '1.2.3.4' }, /critical extension/],
  ])('%s', (_what, form, reason) => {
    expect(under({})).toMatchObject({ trusted: true });
    expect(under(form)).toMatchObject(refused(reason));
  });

  test('for so many below it', () => {
    expect(under({ pathLength: 0 })).toMatchObject({ trusted: true });
    expect(under({ pathLength: 0 }, 2)).toMatchObject(refused('may have 0 authorities below it, and has 1'));
    expect(under({ pathLength: 1 }, 2)).toMatchObject({ trusted: true });
    expect(under({}, 8)).toMatchObject({ trusted: true });
    expect(under({}, 9)).toMatchObject(refused('no trusted certificate'));
  });

  test('of a strong key', () => {
    const weak = issue('W', null, { privateKey: generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey });
    expect(trust(issue('S', weak, { ca: false }), [], [weak])).toMatchObject(refused('too short'));
  });

  test('the trusted ones, too; but one that is the signer is trusted as it is', () => {
    const expired = issue('Old', null, { to: new Date('2026-11-01') });
    expect(trust(issue('S', expired, { ca: false }), [], [expired])).toMatchObject(refused('was valid from'));
    const selfMade = issue('Self', null, { ca: false });
    expect(trust(selfMade, [], [selfMade])).toMatchObject({ trusted: true });
    expect(trust(issue('S', selfMade, { ca: false }), [], [selfMade])).toMatchObject(
      refused('no certification authority|no trusted'),
    );
  });

  test('a signer with an unknown critical extension is not taken', () => {
    expect(trust(issue('S', root, { ca: false, critical: '1.2.3.4' }), [], [root])).toMatchObject(refused('critical'));
  });
});

test('certificates that issued one another in every way are looked at once each', () => {
  const privateKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const loop = Array.from({ length: 15 }, () => issue('Loop', null, { privateKey }));
  const signedByLoop = issue('S', loop[0]!, { ca: false });
  const start = performance.now();
  expect(trust(signedByLoop, loop, [root])).toMatchObject({ trusted: false });
  expect(performance.now() - start).toBeLessThan(5000);
});

test('a file of trusted certificates holds one or several in PEM form', () => {
  const pem = `Root CA\n${root.certificate}\n${between.certificate}`;
  expect(readTrusted(pem).map(({ subject }) => subject)).toEqual(['CN=Root', 'CN=Between']);
  expect(() => readTrusted('hello')).toThrow(/no certificate in PEM form/);
  expect(() => readTrusted(`${pem}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----`)).toThrow(
    /certificate 3/,
  );
});
