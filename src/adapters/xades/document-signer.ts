import { createHash, type KeyObject, sign, type X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import { type DocumentSigner, SigningFailed } from '../../domain/invoice/ports.ts';
import { signature, signedInfo, signedProperties } from './signature-template.ts';
import { ECDSA_SHA256, RSA_SHA256 } from './vocabulary.ts';

/** A private key and the certificates that say whose it is, the signer's own first, then its issuers. */
export interface SigningIdentity {
  readonly privateKey: KeyObject;
  readonly certificateChain: readonly X509Certificate[];
}

/**
 * Signs documents with XAdES baseline B-B (ETSI EN 319 132-1): RSA of 2048 bits or more (PKCS#1 v1.5) or ECDSA on P-256, with SHA-256.
 * The document is digested as it is written, without a parser, and the key operation runs on a thread of the pool, so that the event
 * loop is held for the hash of the document only.
 * @throws {SigningFailed} when the key is of another kind, or not that of the certificate
 */
export function createDocumentSigner({ privateKey, certificateChain }: SigningIdentity): DocumentSigner {
  const [certificate] = certificateChain;
  if (certificate === undefined) throw new SigningFailed('There is no certificate to sign with.');
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new SigningFailed('The private key is not that of the signing certificate.');
  }
  const method = signatureMethod(privateKey);
  const chain = certificateChain.map(({ raw }) => raw.toString('base64'));
  const certificateDigest = createHash('sha256').update(certificate.raw).digest('base64');

  return {
    async sign({ xml, signatureAt }, signingTime) {
      expectValidity(certificate, signingTime);
      const before = Buffer.from(xml.slice(0, signatureAt));
      const after = Buffer.from(xml.slice(signatureAt));
      const properties = signedProperties(signingTime, certificateDigest);
      const info = signedInfo(
        method,
        createHash('sha256').update(before).update(after).digest('base64'),
        createHash('sha256').update(properties).digest('base64'),
      );
      const value = await signatureValue(privateKey, info);
      return Buffer.concat([before, Buffer.from(signature(info, value, chain, properties)), after]);
    },
  };
}

function signatureMethod({ asymmetricKeyType: type, asymmetricKeyDetails: details = {} }: KeyObject): string {
  if (type === 'rsa' && (details.modulusLength ?? 0) >= 2048) return RSA_SHA256;
  if (type === 'ec' && details.namedCurve === 'prime256v1') return ECDSA_SHA256;
  throw new SigningFailed('The signing key must be RSA of 2048 bits or more, or ECDSA on P-256.');
}

/** A signature made outside its certificate's validity is worth nothing (EN 319 102-1, section 5.2.8). */
function expectValidity({ validFromDate, validToDate }: X509Certificate, time: Date): void {
  if (time < validFromDate || time > validToDate) {
    const [from, to] = [validFromDate, validToDate].map((date) => date.toISOString());
    throw new SigningFailed(`The signing certificate is valid from ${from} to ${to}, not at ${time.toISOString()}.`);
  }
}

const signAsync = promisify<string, Buffer, { key: KeyObject; dsaEncoding: 'ieee-p1363' }, Buffer>(sign);

/** XML Signature takes an ECDSA value as r and s side by side (RFC 4050, section 3.3). */
async function signatureValue(key: KeyObject, info: string): Promise<string> {
  try {
    return (await signAsync('sha256', Buffer.from(info), { key, dsaEncoding: 'ieee-p1363' })).toString('base64');
  } catch (error) {
    throw new SigningFailed('The signing key could not be used.', { cause: error });
  }
}
