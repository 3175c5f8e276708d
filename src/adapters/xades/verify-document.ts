import { createHash, webcrypto, type X509Certificate } from 'node:crypto';
import { DOMImplementation, DOMParser, XMLSerializer } from '@xmldom/xmldom';
import { Application, SignedXml, setNodeDependencies } from 'xadesjs';
import xpath from 'xpath';
import { cutClearance } from '../../domain/verification/cut-clearance.ts';
import type { Clearance, SignedForm, ValidSignature, Verification } from '../../domain/verification/verification.ts';
import { readPlainXml } from './plain-xml.ts';
import { Refused } from './refused.ts';
import { factsOf, readSignedStructure, type SignedStructure } from './signed-structure.ts';
import { describeCertificate, readSigningCertificate } from './signing-certificate.ts';
import { readTimeStamp } from './time-stamp.ts';
import { ECDSA_SHA256, UBL_BASIC_COMPONENTS } from './vocabulary.ts';

setNodeDependencies({ DOMImplementation, DOMParser, XMLSerializer, xpath });
Application.setEngine('node', webcrypto as Crypto);

/**
 * Verifies a signed document. A UBL document with a clearance (docs/decisions/0042) is valid on three conditions: the
 * document without the clearance is valid, the clearance has a valid signature of its own, and it states the digest of
 * that very document.
 */
export async function verifySignedDocument(bytes: Uint8Array, form: SignedForm = 'ubl'): Promise<Verification> {
  const cut = form === 'ubl' ? cutClearance(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) : null;
  if (cut === null) return verifyOne(bytes, form);
  const document = await verifyOne(cut.remainder, form);
  if (!document.valid) return document;
  const signed = await verifyOne(cut.clearance, 'clearance');
  if (!signed.valid) return { ...signed, reason: `The clearance of the tax authority: ${signed.reason}` };
  try {
    return { ...document, clearance: clearanceOf(signed, cut.remainder) };
  } catch (error) {
    if (error instanceof Refused) return { valid: false, failed: error.failed, reason: error.message };
    throw error;
  }
}

/**
 * Returns the verified clearance.
 * @throws {Refused} when it is not the clearance of an accepted document with these bytes
 */
function clearanceOf({ facts, signingTime, certificate, certificates }: ValidSignature, document: Buffer): Clearance {
  const { DgiId: dgiId = '', SubmissionId: submissionId = '', Digest, Status, DecidedAt = '' } = facts;
  // The authority digested the bytes that it received. An XML declaration and the like may have been added since, so
  // both forms count.
  const digests = [document, readPlainXml(document)].map((each) => createHash('sha256').update(each).digest('hex'));
  if (!digests.includes(Digest ?? ''))
    throw new Refused('digest', 'The clearance of the tax authority is of another document.');
  if (Status !== 'accepted') throw new Refused('structure', 'The clearance does not state that it was accepted.');
  return {
    dgiId,
    submissionId,
    decidedAt: readTime(DecidedAt, 'The time of the decision'),
    signature: { signingTime, certificate, certificates },
  };
}

/**
 * Verifies a document with one signature with xadesjs, which shares no code with the signer. Checks that the signature
 * covers the whole document, that nothing was changed, that the signature was made with the certificate's key, and that
 * the certificate is the one in the signed properties and allows signing. Blocks its thread while xadesjs works:
 * milliseconds for a short invoice, seconds for thousands of lines. Use it through `createDocumentVerifier`.
 */
async function verifyOne(bytes: Uint8Array, form: SignedForm): Promise<Verification> {
  try {
    const structure = readSignedStructure(bytes, form);
    const signingTime = readTime(structure.signingTime, 'The signing time');
    const certificate = readSigningCertificate(structure.certificates[0], structure.certificateDigest, signingTime);
    await verifyDigestsAndSignature(structure, certificate);
    const stamp = structure.timeStamp;
    const timeStamp = stamp && (await readTimeStamp(stamp.token, stamp.stamped));
    if (timeStamp && (timeStamp.time < certificate.validFromDate || timeStamp.time > certificate.validToDate)) {
      throw new Refused('timestamp', 'The certificate was not valid at the time of the time stamp.');
    }
    return {
      valid: true,
      signingTime,
      algorithm: structure.signatureMethod,
      certificate: describeCertificate(certificate),
      certificates: structure.certificates.map((encoded) => new Uint8Array(Buffer.from(encoded, 'base64'))),
      covered: coveredDocument(structure),
      facts: factsOf(structure, form),
      timeStamp: timeStamp && { time: timeStamp.time, authority: timeStamp.authority },
      clearance: null,
    };
  } catch (error) {
    if (error instanceof Refused) return { valid: false, failed: error.failed, reason: error.message };
    // The parser and xadesjs recurse: a RangeError means that the call stack overflowed.
    if (error instanceof RangeError) {
      return { valid: false, failed: 'structure', reason: 'The document is nested too deeply.' };
    }
    throw error;
  }
}

/** Lets xadesjs recompute the digests of both references and verify the signature, only with this certificate's key. */
async function verifyDigestsAndSignature(structure: SignedStructure, certificate: X509Certificate): Promise<void> {
  const { document, signature, signatureMethod } = structure;
  const algorithm =
    signatureMethod === ECDSA_SHA256
      ? { name: 'ECDSA', namedCurve: 'P-256' }
      : { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  const spki = certificate.publicKey.export({ type: 'spki', format: 'der' });
  const key = await webcrypto.subtle.importKey('spki', spki, algorithm, true, ['verify']).catch((cause: unknown) => {
    throw new Refused('signature', 'The key of the certificate does not match the signature algorithm.', {
      cause,
    });
  });

  const verifier = new SignedXml(document as unknown as globalThis.Document);
  try {
    verifier.LoadXml(signature as unknown as globalThis.Element);
  } catch (cause) {
    if (cause instanceof RangeError) throw cause;
    throw new Refused('structure', 'The signature has properties that cannot be read.', { cause });
  }
  let valid: boolean;
  try {
    // With `Algorithm` set, xadesjs would import the key again, without its curve.
    delete verifier.Algorithm;
    // xadesjs' enveloped transform only removes signatures that are children of the root.
    signature.parentNode?.removeChild(signature);
    valid = await verifier.Verify(key as CryptoKey);
  } catch (cause) {
    if (cause instanceof RangeError) throw cause;
    throw new Refused('digest', 'The document was changed after it was signed.', { cause });
  }
  if (!valid) throw new Refused('signature', 'The signature was not made with the key of the certificate.');
}

function coveredDocument({ document, documentDigest }: SignedStructure): {
  type: string;
  number: string | null;
  digest: string;
} {
  const root = document.documentElement;
  const number = [...(root?.childNodes ?? [])].find(
    (node) => node.namespaceURI === UBL_BASIC_COMPONENTS && node.localName === 'ID',
  );
  return { type: root?.localName ?? '', number: number?.textContent ?? null, digest: documentDigest };
}

function readTime(text: string, what: string): Date {
  const time = new Date(text);
  const isDateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text);
  if (!isDateTime || Number.isNaN(time.getTime())) throw new Refused('structure', `${what} is not a date and time.`);
  return time;
}
