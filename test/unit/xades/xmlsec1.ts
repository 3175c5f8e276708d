import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const WITHOUT_XMLSEC1 = 'xmlsec1 is not installed (Debian package xmlsec1): skipped';

/**
 * Whether xmlsec1, an independent implementation in C, verifies the signature of a document, trusting only this certificate.
 * @param more further options, such as which of several signatures
 */
export async function xmlsec1Verifies(
  document: Uint8Array,
  certificate: string,
  more: readonly string[] = [],
): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'xmlsec1-'));
  try {
    const [xml, pem] = [join(folder, 'document.xml'), join(folder, 'certificate.pem')];
    await Promise.all([writeFile(xml, document), writeFile(pem, certificate)]);
    const properties = 'http://uri.etsi.org/01903/v1.3.2#:SignedProperties';
    const options = ['--verify', '--id-attr:Id', properties, '--trusted-pem', pem, ...more, xml];
    return await new Promise((resolve) => {
      execFile('xmlsec1', options, (error, _stdout, stderr) => resolve(error === null && /^OK$/m.test(stderr)));
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}
