import { DOMParser, type Document, type Element } from '@xmldom/xmldom';
import type { SignedFacts, SignedForm } from '../../domain/verification/verification.ts';
import { LIMITS, readPlainXml } from './plain-xml.ts';
import { Refused } from './refused.ts';
import { stampedOctets } from './time-stamp.ts';
import {
  DS,
  ECDSA_SHA256,
  ENVELOPED_SIGNATURE,
  EXCLUSIVE_C14N,
  FORMS,
  RSA_SHA256,
  SHA256,
  SIGNED_PROPERTIES_TYPE,
  XADES,
} from './vocabulary.ts';

/** A parsed document with its only signature, which covers everything outside the signature. */
export interface SignedStructure {
  readonly document: Document;
  readonly signature: Element;
  readonly signatureMethod: string;
  readonly documentDigest: string;
  /** The certificates of KeyInfo, base64, the signer's first. */
  readonly certificates: readonly string[];
  readonly signingTime: string;
  /** SHA-256 of the signer's certificate from the signed properties, base64. */
  readonly certificateDigest: string;
  /** The time-stamp token and the octets that it must cover; null when there is no time stamp. */
  readonly timeStamp: { readonly token: Uint8Array; readonly stamped: Uint8Array } | null;
}

/** Maximum number of elements in a signature. They cost xadesjs more time than those of the document. */
const MAX_SIGNATURE_ELEMENTS = 1000;

/**
 * Parses a signed document and accepts only the one structure in which the signature covers everything outside itself.
 * Any other structure could be used for signature wrapping: a second signature, a signature at another position, other
 * references or transforms, further objects beside the signed properties, foreign elements beside the certificates, a
 * duplicate Id.
 * @throws {Refused} with `structure` or `limits`
 */
export function readSignedStructure(bytes: Uint8Array, form: SignedForm = 'ubl'): SignedStructure {
  const { called, roots, signaturePath, byId } = FORMS[form];
  const document = parse(bytes);
  const root = document.documentElement;
  demand(
    root !== null && root.namespaceURI !== null && root.namespaceURI === roots[root.localName ?? ''],
    `The document is not ${called}.`,
  );
  expectUniqueIds(root);

  const signatures = [...document.getElementsByTagNameNS(DS, 'Signature')];
  demand(signatures.length === 1, `The document contains ${signatures.length} signatures: there must be exactly one.`);
  const signature = only(
    signaturePath.reduce((parent, [uri, name]) => only(parent, uri, name), root),
    DS,
    'Signature',
  );
  limit(
    signature.getElementsByTagName('*').length <= MAX_SIGNATURE_ELEMENTS,
    `The signature has more than ${MAX_SIGNATURE_ELEMENTS} elements.`,
  );

  const [info, value, keyInfo, object] = childrenOf(signature, DS, [
    'SignedInfo',
    'SignatureValue',
    'KeyInfo',
    'Object',
  ]);
  const [c14n, method, documentReference, propertiesReference] = childrenOf(info, DS, [
    'CanonicalizationMethod',
    'SignatureMethod',
    'Reference',
    'Reference',
  ]);
  expectAlgorithm(c14n, EXCLUSIVE_C14N);
  const signatureMethod = method.getAttribute('Algorithm') ?? '';
  demand(
    [RSA_SHA256, ECDSA_SHA256].includes(signatureMethod),
    `The signature algorithm ${signatureMethod || '(none)'} is not accepted.`,
  );

  const [qualifying] = childrenOf(object, XADES, ['QualifyingProperties']);
  demand(
    qualifying.getAttribute('Target') === `#${signature.getAttribute('Id')}`,
    'The qualifying properties do not refer to the signature.',
  );
  const isStamped = elementsOf(qualifying).length === 2;
  const [properties, unsigned] = childrenOf(
    qualifying,
    XADES,
    isStamped ? ['SignedProperties', 'UnsignedProperties'] : ['SignedProperties'],
  ) as readonly [Element, Element?];

  demand(
    documentReference.getAttribute('URI') === (byId ? `#${root.getAttribute('Id')}` : ''),
    'The first reference is not to the whole document.',
  );
  const documentDigest = digestOf(documentReference, [ENVELOPED_SIGNATURE, EXCLUSIVE_C14N]);
  const propertiesId = properties.getAttribute('Id');
  demand(
    propertiesReference.getAttribute('Type') === SIGNED_PROPERTIES_TYPE &&
      Boolean(propertiesId) &&
      propertiesReference.getAttribute('URI') === `#${propertiesId}`,
    'The second reference is not to the signed properties.',
  );
  digestOf(propertiesReference, [EXCLUSIVE_C14N]);

  const signatureProperties = only(properties, XADES, 'SignedSignatureProperties');
  const certificate = childrenOf(only(signatureProperties, XADES, 'SigningCertificateV2'), XADES, ['Cert'])[0];
  const certificateDigest = only(certificate, XADES, 'CertDigest');
  expectAlgorithm(only(certificateDigest, DS, 'DigestMethod'), SHA256);
  const [x509] = childrenOf(keyInfo, DS, ['X509Data']);
  // Parts that no digest covers must not contain anything that a reader could take for a part of the invoice.
  demand(elementsOf(value).length === 0, 'The signature value contains elements.');
  demand(
    [...x509.getElementsByTagName('*')].every(({ namespaceURI }) => namespaceURI === DS),
    'The certificate data contain elements that are not part of a signature.',
  );
  const certificates = elementsOf(x509).filter(({ localName }) => localName === 'X509Certificate');
  limit(
    certificates.length <= LIMITS.certificates,
    `The signature contains more than ${LIMITS.certificates} certificates.`,
  );
  return {
    document,
    signature,
    signatureMethod,
    documentDigest,
    certificates: certificates.map(encodedOf),
    signingTime: textOf(only(signatureProperties, XADES, 'SigningTime')),
    certificateDigest: textOf(only(certificateDigest, DS, 'DigestValue')),
    timeStamp: unsigned === undefined ? null : timeStampOf(unsigned, value),
  };
}

/**
 * Returns the texts of a verified document, after its signature was removed from it.
 * @throws {Refused} when a closed form has other elements, or one that is absent or occurs twice
 */
export function factsOf({ document }: SignedStructure, form: SignedForm): SignedFacts {
  const { facts, closed } = FORMS[form];
  const root = document.documentElement;
  const found: Record<string, string> = {};
  for (const [name, path] of Object.entries(facts)) {
    let reached = root === null ? [] : [root];
    for (const [uri, step] of path) {
      reached = reached.flatMap((parent) =>
        elementsOf(parent).filter((each) => each.namespaceURI === uri && each.localName === step),
      );
    }
    const [element, ...others] = reached;
    if (closed) demand(element !== undefined && others.length === 0, `The document must contain exactly one ${name}.`);
    if (element === undefined || others.length > 0) continue;
    demand(elementsOf(element).length === 0, `${element.nodeName} must contain only text.`);
    found[name] = (element.textContent ?? '').trim();
  }
  if (closed) {
    const all = root === null ? [] : elementsOf(root);
    demand(all.length === Object.keys(facts).length, 'The document contains elements that do not belong to it.');
  }
  return found;
}

/**
 * Reads the only accepted unsigned property: a time stamp over the signature value, which is itself signed by its
 * authority.
 */
function timeStampOf(unsigned: Element, value: Element): NonNullable<SignedStructure['timeStamp']> {
  const [properties] = childrenOf(unsigned, XADES, ['UnsignedSignatureProperties']);
  const [timeStamp] = childrenOf(properties, XADES, ['SignatureTimeStamp']);
  const [method, token] = elementsOf(timeStamp);
  expectAlgorithm(method, EXCLUSIVE_C14N);
  demand(
    token?.localName === 'EncapsulatedTimeStamp' && elementsOf(timeStamp).length === 2,
    'The time stamp is not a single RFC 3161 token.',
  );
  demand(
    [...value.attributes].every(({ name }) => name === 'Id' || name.startsWith('xmlns')),
    'The signature value has attributes that are not allowed.',
  );
  const stamped = stampedOctets(value.textContent ?? '', value.prefix ?? '', value.getAttribute('Id'));
  return { token: Buffer.from(encodedOf(token), 'base64'), stamped };
}

function parse(bytes: Uint8Array): Document {
  const text = readPlainXml(bytes);
  try {
    return new DOMParser({
      locator: false,
      // Uses XML 1.0 line ends. By default xmldom uses those of XML 1.1, which also replace U+0085 and U+2028.
      normalizeLineEndings: (source) => source.replace(/\r\n?/g, '\n'),
      onError: (_level, message) => {
        throw new Error(message);
      },
    }).parseFromString(text, 'text/xml');
  } catch (cause) {
    throw new Refused('structure', 'The document is not well-formed XML.', { cause });
  }
}

function expectUniqueIds(root: Element): void {
  const seen = new Set<string>();
  for (const element of [root, ...root.getElementsByTagName('*')]) {
    for (const name of ['Id', 'ID', 'id', 'xml:id']) {
      const id = element.getAttribute(name);
      if (id === null) continue;
      demand(!seen.has(id), `Two elements of the document have the Id ${id}.`);
      seen.add(id);
    }
  }
}

/** Returns the digest of a reference, which must have exactly the expected transforms. */
function digestOf(reference: Element, expected: readonly string[]): string {
  const [transforms, method, value] = childrenOf(reference, DS, ['Transforms', 'DigestMethod', 'DigestValue']);
  const found = childrenOf(
    transforms,
    DS,
    expected.map(() => 'Transform'),
  );
  for (const [index, algorithm] of expected.entries()) expectAlgorithm(found[index], algorithm);
  expectAlgorithm(method, SHA256);
  return textOf(value);
}

/**
 * Checks the algorithm of an element. Refuses parameters (inclusive prefixes, XPath): they would change what the
 * signature covers.
 */
function expectAlgorithm(element: Element | undefined, algorithm: string): void {
  const found = element?.getAttribute('Algorithm');
  demand(
    found === algorithm && element?.firstChild === null,
    `${element?.nodeName} must be ${algorithm} without parameters, not ${found}.`,
  );
}

type Tuple<T, N extends readonly unknown[]> = { readonly [K in keyof N]: T };

/** Returns the child elements, which must have exactly these names, in this order. */
function childrenOf<const N extends readonly string[]>(parent: Element, uri: string, names: N): Tuple<Element, N> {
  const children = elementsOf(parent);
  const right =
    children.length === names.length &&
    children.every((child, index) => child.namespaceURI === uri && child.localName === names[index]) &&
    [...parent.childNodes].every((node) => node.nodeType === 1 || node.nodeValue?.trim() === '');
  demand(right, `${parent.nodeName} must contain ${names.join(', ')} and nothing else.`);
  return children as unknown as Tuple<Element, N>;
}

/** Returns the only child with a name; other children are ignored. */
function only(parent: Element, uri: string, name: string): Element {
  const [child, ...others] = elementsOf(parent).filter((each) => each.namespaceURI === uri && each.localName === name);
  demand(child !== undefined && others.length === 0, `${parent.nodeName} must contain exactly one ${name}.`);
  return child;
}

function elementsOf(parent: Element): Element[] {
  return [...parent.childNodes].filter((node): node is Element => node.nodeType === 1);
}

function textOf(element: Element): string {
  demand(elementsOf(element).length === 0, `${element.nodeName} must contain only text.`);
  return (element.textContent ?? '').replace(/\s+/g, '');
}

/** Returns the base64 of a certificate or a time stamp. */
function encodedOf(element: Element): string {
  const text = textOf(element);
  limit(
    text.length <= LIMITS.encoded,
    `The element ${element.localName} is too long: more than ${LIMITS.encoded} characters.`,
  );
  return text;
}

function limit(condition: boolean, reason: string): asserts condition {
  if (!condition) throw new Refused('limits', reason);
}

function demand(condition: boolean, reason: string): asserts condition {
  if (!condition) throw new Refused('structure', reason);
}
