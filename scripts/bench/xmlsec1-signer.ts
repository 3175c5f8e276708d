import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { SigningIdentity } from '../../src/adapters/signing-key/software-key.ts';
import type { CanonicalXml } from '../../src/adapters/ubl/canonical-xml.ts';
import { signature, signedInfo, signedProperties } from '../../src/adapters/xades/signature-template.ts';
import { ECDSA_SHA256, RSA_SHA256 } from '../../src/adapters/xades/vocabulary.ts';
import { SIGNING_TIME } from './documents-samples.ts';

/**
 * Signs a document `count` times with Debian's xmlsec1 in one process. The template is our signature without digests
 * and value. @returns the last document
 */
export async function signWithXmlsec1(
  { xml, signatureAt }: CanonicalXml,
  { privateKey, certificateChain }: SigningIdentity,
  count: number,
): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), 'xmlsec1-'));
  try {
    const certificate = certificateChain[0]?.raw ?? Buffer.alloc(0);
    const method = privateKey.asymmetricKeyType === 'rsa' ? RSA_SHA256 : ECDSA_SHA256;
    const properties = signedProperties(SIGNING_TIME, createHash('sha256').update(certificate).digest('base64'));
    const template = signature(signedInfo(method, '', ''), '', [certificate.toString('base64')], properties);
    const [key, unsigned, signed] = [join(folder, 'key.pem'), join(folder, 'unsigned.xml'), join(folder, 'signed.xml')];
    await writeFile(key, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    await writeFile(unsigned, xml.slice(0, signatureAt) + template + xml.slice(signatureAt));
    const options = [
      '--sign',
      '--repeat',
      String(count),
      '--id-attr:Id',
      'http://uri.etsi.org/01903/v1.3.2#:SignedProperties',
    ];
    await promisify(execFile)('xmlsec1', [...options, '--privkey-pem', key, '--output', signed, unsigned]);
    return await readFile(signed);
  } finally {
    await rm(folder, { recursive: true });
  }
}
