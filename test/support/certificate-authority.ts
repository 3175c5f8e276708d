import { createHash, generateKeyPairSync, type KeyObject, webcrypto, X509Certificate } from 'node:crypto';
import { Integer, PrintableString } from 'asn1js';
import {
  AttributeTypeAndValue,
  BasicConstraints,
  Certificate,
  CryptoEngine,
  Extension,
  GeneralName,
  GeneralNames,
} from 'pkijs';

const DAY_MS = 86_400_000;
const COMMON_NAME = '2.5.4.3';
const BASIC_CONSTRAINTS = '2.5.29.19';
const SUBJECT_ALTERNATIVE_NAME = '2.5.29.17';
const crypto = new CryptoEngine({ name: 'node', crypto: webcrypto as Crypto });

/** A certification authority for TLS certificates that only the test trusts. */
export interface CertificateAuthority {
  /** The authority's certificate, PEM. */
  readonly certificate: string;
  /** Issues a server's key and certificate, PEM. @param expired whether the validity ended yesterday */
  issue(host: string, expired?: boolean): Promise<{ key: string; cert: string }>;
}

export async function createCertificateAuthority(name: string): Promise<CertificateAuthority> {
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  async function certify(subject: string, publicKey: KeyObject, until: number, extension: Extension): Promise<string> {
    const certificate = new Certificate({ version: 2 });
    const serial = createHash('sha256').update(`${name} ${subject}`).digest().subarray(0, 8);
    certificate.serialNumber = new Integer({ valueHex: new Uint8Array([1, ...serial]).buffer });
    certificate.issuer.typesAndValues.push(commonName(name));
    certificate.subject.typesAndValues.push(commonName(subject));
    certificate.notBefore.value = new Date(until - 10 * DAY_MS);
    certificate.notAfter.value = new Date(until);
    certificate.extensions = [extension];
    await certificate.subjectPublicKeyInfo.importKey(await imported(publicKey, 'spki', 'verify'), crypto);
    await certificate.sign(await imported(own.privateKey, 'pkcs8', 'sign'), 'SHA-256', crypto);
    return new X509Certificate(Buffer.from(certificate.toSchema().toBER())).toString();
  }

  const isAuthority = new BasicConstraints({ cA: true }).toSchema().toBER(false);
  const authority = new Extension({ extnID: BASIC_CONSTRAINTS, critical: true, extnValue: isAuthority });
  return {
    certificate: await certify(name, own.publicKey, Date.now() + 5 * DAY_MS, authority),
    async issue(host, expired = false) {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const names = new GeneralNames({ names: [new GeneralName({ type: 2, value: host })] });
      const extnValue = names.toSchema().toBER(false);
      const extension = new Extension({ extnID: SUBJECT_ALTERNATIVE_NAME, critical: false, extnValue });
      const until = Date.now() + (expired ? -DAY_MS : 5 * DAY_MS);
      return {
        key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
        cert: await certify(host, publicKey, until, extension),
      };
    },
  };
}

function commonName(value: string): AttributeTypeAndValue {
  return new AttributeTypeAndValue({ type: COMMON_NAME, value: new PrintableString({ value }) });
}

function imported(key: KeyObject, format: 'spki' | 'pkcs8', usage: 'sign' | 'verify'): Promise<CryptoKey> {
  const bytes = key.export({ type: format as 'pkcs8', format: 'der' });
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  return webcrypto.subtle.importKey(format, bytes, algorithm, true, [usage]) as Promise<CryptoKey>;
}
