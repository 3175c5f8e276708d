import { type KeyObject, sign, type X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import { SigningFailed, type SigningKey } from '../../domain/invoice/signing-key.ts';

/** A private key in memory with its certificates: the signer's own first, then its issuers. */
export interface SigningIdentity {
  readonly privateKey: KeyObject;
  readonly certificateChain: readonly X509Certificate[];
}

/**
 * Creates a key that signs on Node's thread pool.
 * @throws {SigningFailed} when the algorithm is not supported, or when the key does not match the first certificate
 */
export function softwareKey({ privateKey, certificateChain }: SigningIdentity, testOnly = false): SigningKey {
  const [certificate, ...issuers] = certificateChain;
  if (certificate === undefined) throw new SigningFailed('There is no certificate to sign with.');
  const algorithm = signatureAlgorithm(certificate);
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new SigningFailed('The private key does not match the signing certificate.');
  }
  return {
    certificateChain: [certificate, ...issuers],
    algorithm,
    testOnly,
    async sign(octets) {
      try {
        return await signAsync('sha256', octets, { key: privateKey, dsaEncoding: 'ieee-p1363' });
      } catch (error) {
        throw new SigningFailed('The signing key could not be used.', { cause: error });
      }
    },
  };
}

/**
 * Returns the signature algorithm for a certificate's key.
 * @throws {SigningFailed} when the key is too weak or of an unsupported type
 */
export function signatureAlgorithm({ publicKey }: X509Certificate): SigningKey['algorithm'] {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details = {} } = publicKey;
  if (type === 'rsa' && (details.modulusLength ?? 0) >= 2048) return 'RSA-SHA256';
  if (type === 'ec' && details.namedCurve === 'prime256v1') return 'ECDSA-SHA256';
  throw new SigningFailed('The signing key must be RSA of 2048 bits or more, or ECDSA on P-256.');
}

const signAsync = promisify<string, Uint8Array, { key: KeyObject; dsaEncoding: 'ieee-p1363' }, Buffer>(sign);
