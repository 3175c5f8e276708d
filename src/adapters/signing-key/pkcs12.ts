import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { CertBag, Certificate, PFX, PKCS8ShroudedKeyBag, PrivateKeyInfo, type SafeContents } from 'pkijs';
import { chainFrom } from './certificate-chain.ts';
import type { SigningIdentity } from './software-key.ts';

/**
 * Reads the key and the certificates of a PKCS#12 file (RFC 7292): the signer's certificate, followed by its issuers as
 * far as the file holds them. The file must be encrypted with PBES2, as OpenSSL 3 and current Windows versions write
 * it.
 * @throws with what to do when the file cannot be read, the passphrase is wrong, or the key has no certificate
 */
export async function loadPkcs12(file: string, passphrase: string): Promise<SigningIdentity> {
  const bytes = await readFile(file).catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === 'ENOENT' ? new Error(`the file ${file} does not exist.`, { cause }) : cause;
  });
  if (bytes.includes('-----BEGIN ')) {
    throw new Error(
      `${file} is in PEM format but must be PKCS#12: convert it with "openssl pkcs12 -export -in ${file} -out NEW.p12", provided that ${file} holds the key and its certificate.`,
    );
  }
  const { keys, certificates } = await open(bytes, passphrase).catch((cause: unknown) => {
    throw new Error(
      `${file} cannot be opened with this passphrase. Check the passphrase. If it is right, the file may use an old encryption (RC2, ` +
        '3DES): convert it with "openssl pkcs12 -legacy -in OLD -nodes | openssl pkcs12 -export -out NEW".',
      { cause },
    );
  });
  const [privateKey, ...others] = keys;
  if (privateKey === undefined || others.length > 0)
    throw new Error(`${file} holds ${keys.length} private keys: it must hold exactly one.`);
  const own = certificates.find((certificate) => certificate.checkPrivateKey(privateKey));
  if (own === undefined) throw new Error(`${file} holds no certificate for its private key.`);
  return { privateKey, certificateChain: chainFrom(own, certificates) };
}

async function open(
  bytes: Uint8Array<ArrayBuffer>,
  passphrase: string,
): Promise<{ keys: KeyObject[]; certificates: X509Certificate[] }> {
  const password = new TextEncoder().encode(passphrase).buffer;
  const pfx = PFX.fromBER(bytes);
  await pfx.parseInternalValues({ password, checkIntegrity: true });
  const safe = pfx.parsedValue?.authenticatedSafe;
  await safe?.parseInternalValues({ safeContents: safe.safeContents.map(() => ({ password })) });
  const keys: KeyObject[] = [];
  const certificates: X509Certificate[] = [];
  const contents: { value: SafeContents }[] = safe?.parsedValue.safeContents ?? [];
  for (const { bagValue } of contents.flatMap(({ value }) => value.safeBags)) {
    if (bagValue instanceof PKCS8ShroudedKeyBag) {
      const key = Buffer.from(bagValue.toSchema().toBER());
      keys.push(createPrivateKey({ key, format: 'der', type: 'pkcs8', passphrase }));
    } else if (bagValue instanceof PrivateKeyInfo) {
      keys.push(createPrivateKey({ key: Buffer.from(bagValue.toSchema().toBER()), format: 'der', type: 'pkcs8' }));
    } else if (bagValue instanceof CertBag && bagValue.parsedValue instanceof Certificate) {
      certificates.push(new X509Certificate(Buffer.from(bagValue.parsedValue.toSchema().toBER())));
    }
  }
  return { keys, certificates };
}
