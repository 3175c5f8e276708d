import { createHash, verify } from 'node:crypto';
import { CLEARANCE } from '../../domain/verification/cut-clearance.ts';
import type { SignedFacts, SignedForm, ValidSignature } from '../../domain/verification/verification.ts';
import { LIMITS } from './plain-xml.ts';
import { type CanonicalElement, readCanonicalForm } from './read-canonical-form.ts';
import { Refused } from './refused.ts';
import { signature, signedInfo, signedProperties } from './signature-template.ts';
import { describeCertificate, readSigningCertificate } from './signing-certificate.ts';
import { ECDSA_SHA256, FORMS, RSA_SHA256, UBL_BASIC_COMPONENTS } from './vocabulary.ts';

/** The values of a signature, as the document states them, and the two texts that were digested or signed. */
interface SignatureParts {
  readonly method: string;
  readonly documentDigest: string;
  readonly propertiesDigest: string;
  readonly value: string;
  readonly certificates: readonly string[];
  readonly signingTime: string;
  readonly certificateDigest: string;
  readonly info: string;
}

const START = Buffer.from('<ds:Signature ');
const END = Buffer.from('</ds:Signature>');
const BASE64 = '[A-Za-z0-9+/]+={0,2}';
const CERTIFICATE = `<ds:X509Certificate>${BASE64}</ds:X509Certificate>`;

/**
 * Verifies a document in the exact form that this service writes, without a DOM: its bytes are already canonical, so
 * both digests are computed from them unchanged. Checks and result are those of `verifySignedDocument`, but it takes a
 * fortieth of the time. This makes the authority of the test environment as fast as the rest of the service.
 * @returns null if the document is not valid, or is in any other form, such as with a policy or a time stamp;
 * `verifySignedDocument` then decides, and says why
 */
export function verifyCanonical(bytes: Uint8Array, form: SignedForm): ValidSignature | null {
  if (FORMS[form].byId) return null;
  const document = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = document.indexOf(START);
  const end = document.lastIndexOf(END) + END.length;
  if (start === -1 || end <= start) return null;
  const [before, after] = [document.subarray(0, start), document.subarray(end)];
  const parts = partsOf(document.subarray(start, end).toString('latin1'));
  if (parts === null) return null;
  const digest = createHash('sha256').update(before).update(after).digest('base64');
  if (digest !== parts.documentDigest) return null;
  const [head, tail] = [decoded(before), decoded(after)];
  if (head === null || tail === null || head.includes(CLEARANCE) || tail.includes(CLEARANCE)) return null;
  const root = readCanonicalForm(head + tail, head.length, form);
  if (root === null || FORMS[form].roots[root.name] !== root.uri || !hasOnePath(root, form)) return null;
  const facts = factsOf(root, form);
  const signer = signerOf(parts);
  if (facts === null || signer === null) return null;
  return {
    valid: true,
    signingTime: new Date(parts.signingTime),
    algorithm: parts.method,
    certificate: describeCertificate(signer),
    certificates: parts.certificates.map((encoded) => new Uint8Array(Buffer.from(encoded, 'base64'))),
    covered: { type: root.name, number: numberOf(root), digest },
    facts,
    timeStamp: null,
    clearance: null,
  };
}

/**
 * Regular expressions for the values of a signature, by the names of their placeholders in the template. {@link
 * pattern} first escapes the rest of the template, and then replaces the placeholders.
 */
const VALUES = {
  INFO: '(?<info>',
  SIGNED: '(?<properties>',
  END: ')',
  METHOD: `(?<method>${[RSA_SHA256, ECDSA_SHA256].map(RegExp.escape).join('|')})`,
  DOCUMENT: `(?<documentDigest>${BASE64})`,
  PROPERTIES: `(?<propertiesDigest>${BASE64})`,
  VALUE: `(?<value>${BASE64})`,
  CERTIFICATES: `(?<certificates>(?:${CERTIFICATE})+)`,
  TIME: '(?<signingTime>\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ)',
  CERTIFICATE: `(?<certificateDigest>${BASE64})`,
};

/** Matches a signature as the signer writes it, with a group for each value. */
const SIGNATURE = pattern();

function pattern(): RegExp {
  const info = signedInfo('{METHOD}', '{DOCUMENT}', '{PROPERTIES}');
  const properties = signedProperties(new Date(0), '{CERTIFICATE}').replace('1970-01-01T00:00:00Z', '{TIME}');
  const text = signature(`{INFO}${info}{END}`, '{VALUE}', ['{}'], `{SIGNED}${properties}{END}`);
  const named = text.replace('<ds:X509Certificate>{}</ds:X509Certificate>', '{CERTIFICATES}');
  const escaped = named.replace(/[^{}]+(?![^{]*\})/g, (literal) => RegExp.escape(literal));
  return new RegExp(`^${escaped.replace(/\{(\w+)\}/g, (_all, name: keyof typeof VALUES) => VALUES[name])}$`);
}

/** Reads a signature. @returns null if it is in another form, or its properties are not those that it signed */
function partsOf(text: string): SignatureParts | null {
  const found = SIGNATURE.exec(text)?.groups as Readonly<Record<string, string>> | undefined;
  if (found === undefined) return null;
  const { info = '', properties = '', method = '', documentDigest = '', propertiesDigest = '' } = found;
  const { value = '', signingTime = '', certificateDigest = '' } = found;
  if (createHash('sha256').update(properties).digest('base64') !== propertiesDigest) return null;
  const certificates = (found.certificates ?? '').split('</ds:X509Certificate>').slice(0, -1);
  const encoded = certificates.map((each) => each.slice('<ds:X509Certificate>'.length));
  if (encoded.length > LIMITS.certificates || encoded.some((each) => each.length > LIMITS.encoded)) return null;
  if (![value, ...encoded].every(isCanonicalBase64) || Number.isNaN(Date.parse(signingTime))) return null;
  return {
    info,
    method,
    documentDigest,
    propertiesDigest,
    value,
    signingTime,
    certificateDigest,
    certificates: encoded,
  };
}

function isCanonicalBase64(text: string): boolean {
  return Buffer.from(text, 'base64').toString('base64') === text;
}

/**
 * Verifies a signature with its certificate's key.
 * @returns the certificate; null if the signature is not valid, or the key may not sign
 */
function signerOf({ certificates, certificateDigest, signingTime, method, info, value }: SignatureParts) {
  try {
    const certificate = readSigningCertificate(certificates[0], certificateDigest, new Date(signingTime));
    const key = certificate.publicKey;
    if (key.asymmetricKeyType !== (method === ECDSA_SHA256 ? 'ec' : 'rsa')) return null;
    const signed = Buffer.from(value, 'base64');
    const isValid = verify('sha256', Buffer.from(info), { key, dsaEncoding: 'ieee-p1363' }, signed);
    return isValid ? certificate : null;
  } catch (error) {
    if (error instanceof Refused) return null;
    throw error;
  }
}

function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function childrenOf(parent: CanonicalElement, [uri, name]: readonly [string, string]): CanonicalElement[] {
  return parent.children.filter((each) => each.uri === uri && each.name === name);
}

/** Whether each element of the path to the signature is the only child of its parent with that name. */
function hasOnePath(root: CanonicalElement, form: SignedForm): boolean {
  let parent = root;
  for (const step of FORMS[form].signaturePath) {
    const [child, ...others] = childrenOf(parent, step);
    if (child === undefined || others.length > 0) return false;
    parent = child;
  }
  return true;
}

/**
 * Returns the texts of the document (`SignedFacts`); null if such an element has child elements, or a closed form has
 * other elements.
 */
function factsOf(root: CanonicalElement, form: SignedForm): SignedFacts | null {
  const { facts, closed } = FORMS[form];
  const found: Record<string, string> = {};
  for (const [name, path] of Object.entries(facts)) {
    let reached = [root];
    for (const step of path) reached = reached.flatMap((parent) => childrenOf(parent, step));
    const [element, ...others] = reached;
    if (closed && (element === undefined || others.length > 0)) return null;
    if (element === undefined || others.length > 0) continue;
    if (element.children.length > 0) return null;
    found[name] = element.text.trim();
  }
  return closed && root.children.length !== Object.keys(facts).length ? null : found;
}

/** Returns the document's number: the text of the first cbc:ID in its root. */
function numberOf(root: CanonicalElement): string | null {
  return childrenOf(root, [UBL_BASIC_COMPONENTS, 'ID'])[0]?.text ?? null;
}
