import { DOMParser, type Document, type Element } from '@xmldom/xmldom';
import { readPlainXml } from './plain-xml.ts';
import { Refused } from './refused.ts';
import { stampedOctets } from './time-stamp.ts';
import {
  DS,
  ECDSA_SHA256,
  ENVELOPED_SIGNATURE,
  EXCLUSIVE_C14N,
  RSA_SHA256,
  SHA256,
  SIGNED_PROPERTIES_TYPE,
  UBL_ROOTS,
  UBL_SIGNATURE_PATH,
  XADES,
} from './vocabulary.ts';

/** A parsed document with its only signature, whose form leaves no doubt of what is signed. */
export interface SignedStructure {
  readonly document: Document;
  readonly signature: Element;
  readonly signatureMethod: string;
  readonly documentDigest: string;
  /** Of KeyInfo, base64, the signer's first. */
  readonly certificates: readonly string[];
  readonly signingTime: string;
  /** SHA-256 of the signer's certificate as it was signed, base64. */
  readonly certificateDigest: string;
  /** The time stamp with what it should be of; null when there is none. */
  readonly timeStamp: { readonly token: Uint8Array; readonly stamped: Uint8Array } | null;
}

/** Of the signature, whose elements cost xadesjs more than the document's. */
const MAX_SIGNATURE_ELEMENTS = 1000;
const MAX_CERTIFICATES = 16;
/** Of a certificate or a time stamp, characters of base64. */
const MAX_ENCODED = 128 * 1024;

/**
 * Parses a signed UBL document and insists on the one form in which everything outside the signature is covered by it: what other forms
 * allow (a second signature, a signature elsewhere, other references or transforms, objects beside the signed properties, foreign
 * elements beside its certificates, twins of an Id) is what signature wrapping is made of.
 * @throws {Refused} with `structure` or `limits`
 */
export function readSignedStructure(bytes: Uint8Array): SignedStructure {
  const document = parse(bytes);
  const root = document.documentElement;
  demand(
    root !== null && root.namespaceURI === UBL_ROOTS[root.localName ?? ''],
    'It is not a UBL 2.1 invoice or credit note.',
  );
  expectUniqueIds(root);

  const signatures = [...document.getElementsByTagNameNS(DS, 'Signature')];
  demand(signatures.length === 1, `It holds ${signatures.length} signatures: there must be exactly one.`);
  const signature = only(
    UBL_SIGNATURE_PATH.reduce((parent, [uri, name]) => only(parent, uri, name), root),
    DS,
    'Signature',
  );
  limit(
    signature.getElementsByTagName('*').length <= MAX_SIGNATURE_ELEMENTS,
    `Its signature has more than ${MAX_SIGNATURE_ELEMENTS} elements.`,
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
    `It is signed with ${signatureMethod || 'no algorithm'}, which is not taken.`,
  );

  const [qualifying] = childrenOf(object, XADES, ['QualifyingProperties']);
  demand(
    qualifying.getAttribute('Target') === `#${signature.getAttribute('Id')}`,
    'Its qualifying properties are not those of its signature.',
  );
  const isStamped = elementsOf(qualifying).length === 2;
  const [properties, unsigned] = childrenOf(
    qualifying,
    XADES,
    isStamped ? ['SignedProperties', 'UnsignedProperties'] : ['SignedProperties'],
  ) as readonly [Element, Element?];

  demand(documentReference.getAttribute('URI') === '', 'Its first reference is not to the whole document.');
  const documentDigest = digestOf(documentReference, [ENVELOPED_SIGNATURE, EXCLUSIVE_C14N]);
  const propertiesId = properties.getAttribute('Id');
  demand(
    propertiesReference.getAttribute('Type') === SIGNED_PROPERTIES_TYPE &&
      Boolean(propertiesId) &&
      propertiesReference.getAttribute('URI') === `#${propertiesId}`,
    'Its second reference is not to its signed properties.',
  );
  digestOf(propertiesReference, [EXCLUSIVE_C14N]);

  const signatureProperties = only(properties, XADES, 'SignedSignatureProperties');
  const certificate = childrenOf(only(signatureProperties, XADES, 'SigningCertificateV2'), XADES, ['Cert'])[0];
  const certificateDigest = only(certificate, XADES, 'CertDigest');
  expectAlgorithm(only(certificateDigest, DS, 'DigestMethod'), SHA256);
  const [x509] = childrenOf(keyInfo, DS, ['X509Data']);
  // What no digest covers may hold nothing that a reader could take for a part of the invoice.
  demand(elementsOf(value).length === 0, 'Its signature value holds more than a value.');
  demand(
    [...x509.getElementsByTagName('*')].every(({ namespaceURI }) => namespaceURI === DS),
    'Beside its certificates stands what is no part of a signature.',
  );
  const certificates = elementsOf(x509).filter(({ localName }) => localName === 'X509Certificate');
  limit(certificates.length <= MAX_CERTIFICATES, `It brings more than ${MAX_CERTIFICATES} certificates.`);
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

/** The one unsigned property that is taken, because it protects itself: a time stamp of the signature value. */
function timeStampOf(unsigned: Element, value: Element): NonNullable<SignedStructure['timeStamp']> {
  const [properties] = childrenOf(unsigned, XADES, ['UnsignedSignatureProperties']);
  const [timeStamp] = childrenOf(properties, XADES, ['SignatureTimeStamp']);
  const [method, token] = elementsOf(timeStamp);
  expectAlgorithm(method, EXCLUSIVE_C14N);
  demand(
    token?.localName === 'EncapsulatedTimeStamp' && elementsOf(timeStamp).length === 2,
    'Its time stamp must be one in RFC 3161 form.',
  );
  demand(
    [...value.attributes].every(({ name }) => name === 'Id' || name.startsWith('xmlns')),
    'Its signature value has attributes that have no place there.',
  );
  const stamped = stampedOctets(value.textContent ?? '', value.prefix ?? '', value.getAttribute('Id'));
  return { token: Buffer.from(encodedOf(token), 'base64'), stamped };
}

function parse(bytes: Uint8Array): Document {
  const text = readPlainXml(bytes);
  try {
    return new DOMParser({
      locator: false,
      // XML 1.0's line ends; xmldom's own are those of XML 1.1, which change U+0085 and U+2028.
      normalizeLineEndings: (source) => source.replace(/\r\n?/g, '\n'),
      onError: (_level, message) => {
        throw new Error(message);
      },
    }).parseFromString(text, 'text/xml');
  } catch (cause) {
    throw new Refused('structure', 'It is not well-formed XML.', { cause });
  }
}

function expectUniqueIds(root: Element): void {
  const seen = new Set<string>();
  for (const element of [root, ...root.getElementsByTagName('*')]) {
    for (const name of ['Id', 'ID', 'id', 'xml:id']) {
      const id = element.getAttribute(name);
      if (id === null) continue;
      demand(!seen.has(id), `Two of its elements have the Id ${id}.`);
      seen.add(id);
    }
  }
}

/** The digest of a reference, which must have been transformed in just this way. */
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

/** Algorithms with parameters (inclusive prefixes, XPath) are not taken: they would change what is covered. */
function expectAlgorithm(element: Element | undefined, algorithm: string): void {
  const found = element?.getAttribute('Algorithm');
  demand(
    found === algorithm && element?.firstChild === null,
    `${element?.nodeName} must be ${algorithm} without parameters, not ${found}.`,
  );
}

type Tuple<T, N extends readonly unknown[]> = { readonly [K in keyof N]: T };

/** The child elements, which must be these and no others, in this order. */
function childrenOf<const N extends readonly string[]>(parent: Element, uri: string, names: N): Tuple<Element, N> {
  const children = elementsOf(parent);
  const right =
    children.length === names.length &&
    children.every((child, index) => child.namespaceURI === uri && child.localName === names[index]) &&
    [...parent.childNodes].every((node) => node.nodeType === 1 || node.nodeValue?.trim() === '');
  demand(right, `${parent.nodeName} must hold ${names.join(', ')} and nothing else.`);
  return children as unknown as Tuple<Element, N>;
}

/** The one child of a name, whatever stands beside it. */
function only(parent: Element, uri: string, name: string): Element {
  const [child, ...others] = elementsOf(parent).filter((each) => each.namespaceURI === uri && each.localName === name);
  demand(child !== undefined && others.length === 0, `${parent.nodeName} must hold one ${name}.`);
  return child;
}

function elementsOf(parent: Element): Element[] {
  return [...parent.childNodes].filter((node): node is Element => node.nodeType === 1);
}

function textOf(element: Element): string {
  demand(elementsOf(element).length === 0, `${element.nodeName} must hold nothing but text.`);
  return (element.textContent ?? '').replace(/\s+/g, '');
}

/** Base64 of a certificate or a time stamp. */
function encodedOf(element: Element): string {
  const text = textOf(element);
  limit(
    text.length <= MAX_ENCODED,
    `Its ${element.localName} is longer than any: more than ${MAX_ENCODED} characters.`,
  );
  return text;
}

function limit(holds: boolean, reason: string): asserts holds {
  if (!holds) throw new Refused('limits', reason);
}

function demand(holds: boolean, reason: string): asserts holds {
  if (!holds) throw new Refused('structure', reason);
}
