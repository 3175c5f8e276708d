import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { chainFrom } from './certificate-chain.ts';
import { mayAuthenticate, maySign } from './certificate-findings.ts';
import { chooseCertificate } from './choose-certificate.ts';
import type { Pkcs12Contents } from './pkcs12-contents.ts';
import type { Pkcs12Answer, Pkcs12Task } from './pkcs12-thread.ts';
import type { SigningIdentity } from './software-key.ts';

const REWRITE = 'OpenSSL may write it anew: openssl pkcs12 -legacy -in OLD -nodes | openssl pkcs12 -export -out NEW';

/** Maximum size of a file, bytes. A key with a long chain has some thousands. */
const MAX_FILE = 1024 * 1024;

/**
 * Reads the key and the certificates of a PKCS #12 file (RFC 7292): the signer's certificate, followed by its issuers
 * as far as the file contains them. The file must be encrypted with PBES2, as OpenSSL 3 and current Windows versions
 * write it. Opens it on a thread, because the passphrase may be hashed millions of times.
 * @param fits whether a certificate may be used for the purpose; default: for signing documents. If there are several
 *   for the key, {@link chooseCertificate} selects one
 * @throws when the file cannot be read, the passphrase is wrong, or the key has no certificate; the message says what
 * to do
 */
export async function loadPkcs12(
  file: string,
  passphrase: string,
  fits: (certificate: X509Certificate) => boolean = maySign,
): Promise<SigningIdentity> {
  const bytes = await readFile(file).catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === 'ENOENT' ? new Error(`the file ${file} does not exist.`, { cause }) : cause;
  });
  if (bytes.length > MAX_FILE) throw new Error(`${file} is larger than 1 MiB: it is no PKCS #12 file of a key.`);
  if (bytes.includes('-----BEGIN ')) {
    throw new Error(
      `${file} is in PEM format but must be PKCS#12: convert it with "openssl pkcs12 -export -in ${file} -out NEW.p12", provided that ${file} holds the key and its certificate.`,
    );
  }
  const contents = await openInThread({ file: new Uint8Array(bytes), passphrase }).catch((cause: Error) => {
    throw new Error(
      `${file} cannot be used. ${cause.message}${/passphrase\.$/.test(cause.message) ? '' : ` ${REWRITE}`}`,
      { cause },
    );
  });
  const [key, ...others] = contents.keys;
  if (key === undefined || others.length > 0)
    throw new Error(`${file} holds ${contents.keys.length} private keys: it must hold exactly one.`);
  const privateKey = createPrivateKey({ key: Buffer.from(key), format: 'der', type: 'pkcs8' });
  const certificates = contents.certificates.map((der) => new X509Certificate(der));
  const own = certificates.filter((certificate) => certificate.checkPrivateKey(privateKey));
  const chosen = chooseCertificate(own, new Date(), fits);
  if (chosen === undefined) throw new Error(`${file} holds no certificate for its private key.`);
  return { privateKey, certificateChain: chainFrom(chosen, certificates) };
}

/** Does what {@link loadPkcs12} does, for the certificate of a TLS client. */
export function loadClientPkcs12(file: string, passphrase: string): Promise<SigningIdentity> {
  return loadPkcs12(file, passphrase, mayAuthenticate);
}

/** Opens a file on a thread. @throws when the file cannot be used; the message says why */
function openInThread(workerData: Pkcs12Task): Promise<Pkcs12Contents> {
  const worker = new Worker(new URL('./pkcs12-thread.ts', import.meta.url), { workerData, execArgv: [] });
  return new Promise((resolve, reject) => {
    worker.once('message', (answer: Pkcs12Answer) =>
      'fault' in answer ? reject(new Error(answer.fault)) : resolve(answer),
    );
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('The thread that opens it has ended.')));
  });
}
