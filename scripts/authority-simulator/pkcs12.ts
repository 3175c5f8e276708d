import type { KeyObject, X509Certificate } from 'node:crypto';
import {
  AuthenticatedSafe,
  CertBag,
  Certificate,
  PFX,
  PKCS8ShroudedKeyBag,
  PrivateKeyInfo,
  SafeBag,
  SafeContents,
} from 'pkijs';

const SHROUDED_KEY_BAG = '1.2.840.113549.1.12.10.1.2';
const CERTIFICATE_BAG = '1.2.840.113549.1.12.10.1.3';
/** Number of iterations. It is low, so that a start takes no noticeable time: the files contain test keys. */
const ITERATIONS = 2048;
/** pkijs replaces the initialization vector, which its types require, by a random one. */
const AES_256 = { name: 'AES-CBC', length: 256, iv: new Uint8Array(16) };

/** Writes a PKCS #12 file (RFC 7292) with PBES2 and AES-256, as OpenSSL 3 does. */
export async function writePkcs12(
  { privateKey, chain }: { readonly privateKey: KeyObject; readonly chain: readonly X509Certificate[] },
  passphrase: string,
): Promise<Buffer> {
  const password = new TextEncoder().encode(passphrase).buffer;
  const encryption = {
    password,
    contentEncryptionAlgorithm: AES_256,
    hmacHashAlgorithm: 'SHA-256',
    iterationCount: ITERATIONS,
  };
  const key = PrivateKeyInfo.fromBER(privateKey.export({ type: 'pkcs8', format: 'der' }));
  const shrouded = new PKCS8ShroudedKeyBag({ parsedValue: key });
  await shrouded.makeInternalValues(encryption);
  const certificates = chain.map(({ raw }) => new CertBag({ parsedValue: Certificate.fromBER(raw) }));
  const contents = [
    { privacyMode: 0, value: bags(SHROUDED_KEY_BAG, [shrouded]) },
    { privacyMode: 1, value: bags(CERTIFICATE_BAG, certificates) },
  ];
  const authenticatedSafe = new AuthenticatedSafe({ parsedValue: { safeContents: contents } });
  await authenticatedSafe.makeInternalValues({ safeContents: [{}, encryption] });
  const pfx = new PFX({ parsedValue: { integrityMode: 0, authenticatedSafe } });
  await pfx.makeInternalValues({
    password,
    iterations: ITERATIONS,
    pbkdf2HashAlgorithm: 'SHA-256',
    hmacHashAlgorithm: 'SHA-256',
  });
  return Buffer.from(pfx.toSchema().toBER());
}

function bags(bagId: string, values: readonly (CertBag | PKCS8ShroudedKeyBag)[]): SafeContents {
  return new SafeContents({ safeBags: values.map((bagValue) => new SafeBag({ bagId, bagValue })) });
}
