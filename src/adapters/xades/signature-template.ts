import { DS, ENVELOPED_SIGNATURE, EXCLUSIVE_C14N, SHA256, SIGNED_PROPERTIES_TYPE, XADES } from './vocabulary.ts';

/**
 * A signature policy: the published rules under which the signer signs (EN 319 132-1, section 5.2.9). There is no SPURI
 * qualifier for its location, because xadesjs cannot read one; a policy identified by URI is found at that URI.
 */
export interface SignaturePolicy {
  /** An OID (`1.2.504.1`) or a URI. */
  readonly id: string;
  /** SHA-256 of the policy's document, base64. */
  readonly sha256: string;
}

// Digested elements are written in exclusive canonical form, with their namespace declarations, so that the document
// contains exactly the digested bytes. The inserted values are base64, dates and URIs; only URIs need escaping.

/** The scope of a signature, and the Id of its ds:Signature, from which its other Ids are derived. */
export interface SignatureScope {
  readonly id: string;
  /** The reference's URI: empty for the whole document, `#id` for the element that contains the signature. */
  readonly uri: string;
}

/** The scope of a signature over a whole document. */
const WHOLE_DOCUMENT: SignatureScope = { id: 'signature', uri: '' };

const documentReferenceId = ({ id }: SignatureScope) => `${id}-document`;
const propertiesId = ({ id }: SignatureScope) => `${id}-properties`;

/**
 * Writes the signed properties of XAdES baseline B-B (EN 319 132-1, section 6): SigningTime, SigningCertificateV2,
 * DataObjectFormat. Leaves out the older SigningCertificate: it is deprecated, and EU DSS does not recognize a
 * signature with both as an ETSI form.
 * @param certificateDigest SHA-256 of the DER certificate, base64
 * @param policy if given, the result has the explicit-policy form (EPES)
 */
export function signedProperties(
  signingTime: Date,
  certificateDigest: string,
  policy: SignaturePolicy | null = null,
  scope = WHOLE_DOCUMENT,
): string {
  return (
    `<xades:SignedProperties xmlns:xades="${XADES}" Id="${propertiesId(scope)}">` +
    '<xades:SignedSignatureProperties>' +
    `<xades:SigningTime>${signingTime.toISOString().slice(0, 19)}Z</xades:SigningTime>` +
    '<xades:SigningCertificateV2><xades:Cert><xades:CertDigest>' +
    `<ds:DigestMethod xmlns:ds="${DS}" Algorithm="${SHA256}"></ds:DigestMethod>` +
    `<ds:DigestValue xmlns:ds="${DS}">${certificateDigest}</ds:DigestValue>` +
    '</xades:CertDigest></xades:Cert></xades:SigningCertificateV2>' +
    (policy === null ? '' : policyIdentifier(policy)) +
    '</xades:SignedSignatureProperties>' +
    '<xades:SignedDataObjectProperties>' +
    `<xades:DataObjectFormat ObjectReference="#${documentReferenceId(scope)}"><xades:MimeType>text/xml</xades:MimeType></xades:DataObjectFormat>` +
    '</xades:SignedDataObjectProperties>' +
    '</xades:SignedProperties>'
  );
}

/**
 * Writes the ds:SignedInfo element, which the key signs. It contains the digest of the whole document without its
 * signature, and the digest of the signed properties.
 * @param signatureMethod URI of the signature algorithm
 * @param documentDigest SHA-256, base64
 * @param propertiesDigest SHA-256, base64
 */
export function signedInfo(
  signatureMethod: string,
  documentDigest: string,
  propertiesDigest: string,
  scope = WHOLE_DOCUMENT,
): string {
  return (
    `<ds:SignedInfo xmlns:ds="${DS}">` +
    `<ds:CanonicalizationMethod Algorithm="${EXCLUSIVE_C14N}"></ds:CanonicalizationMethod>` +
    `<ds:SignatureMethod Algorithm="${signatureMethod}"></ds:SignatureMethod>` +
    reference(
      `Id="${documentReferenceId(scope)}" URI="${scope.uri}"`,
      [ENVELOPED_SIGNATURE, EXCLUSIVE_C14N],
      documentDigest,
    ) +
    reference(`Type="${SIGNED_PROPERTIES_TYPE}" URI="#${propertiesId(scope)}"`, [EXCLUSIVE_C14N], propertiesDigest) +
    '</ds:SignedInfo>'
  );
}

function reference(attributes: string, transforms: readonly string[], digest: string): string {
  return (
    `<ds:Reference ${attributes}><ds:Transforms>` +
    transforms.map((algorithm) => `<ds:Transform Algorithm="${algorithm}"></ds:Transform>`).join('') +
    `</ds:Transforms><ds:DigestMethod Algorithm="${SHA256}"></ds:DigestMethod><ds:DigestValue>${digest}</ds:DigestValue></ds:Reference>`
  );
}

/**
 * Writes the ds:Signature element.
 * @param certificates DER, base64, the signer's first
 * @param timeStamp time-stamp token over the signature value, DER, base64; if given, the result is baseline B-T
 */
export function signature(
  info: string,
  signatureValue: string,
  certificates: readonly string[],
  properties: string,
  timeStamp: string | null = null,
  { id } = WHOLE_DOCUMENT,
): string {
  return (
    `<ds:Signature xmlns:ds="${DS}" Id="${id}">${info}<ds:SignatureValue>${signatureValue}</ds:SignatureValue>` +
    '<ds:KeyInfo><ds:X509Data>' +
    certificates.map((certificate) => `<ds:X509Certificate>${certificate}</ds:X509Certificate>`).join('') +
    '</ds:X509Data></ds:KeyInfo>' +
    `<ds:Object><xades:QualifyingProperties xmlns:xades="${XADES}" Target="#${id}">${properties}` +
    (timeStamp === null ? '' : unsignedProperties(timeStamp)) +
    '</xades:QualifyingProperties></ds:Object>' +
    '</ds:Signature>'
  );
}

function policyIdentifier({ id, sha256 }: SignaturePolicy): string {
  const identifier = /^[\d.]+$/.test(id)
    ? `<xades:Identifier Qualifier="OIDAsURN">urn:oid:${id}</xades:Identifier>`
    : `<xades:Identifier>${escapeText(id)}</xades:Identifier>`;
  return (
    '<xades:SignaturePolicyIdentifier><xades:SignaturePolicyId>' +
    `<xades:SigPolicyId>${identifier}</xades:SigPolicyId>` +
    `<xades:SigPolicyHash><ds:DigestMethod xmlns:ds="${DS}" Algorithm="${SHA256}"></ds:DigestMethod>` +
    `<ds:DigestValue xmlns:ds="${DS}">${sha256}</ds:DigestValue></xades:SigPolicyHash>` +
    '</xades:SignaturePolicyId></xades:SignaturePolicyIdentifier>'
  );
}

function unsignedProperties(timeStamp: string): string {
  return (
    '<xades:UnsignedProperties><xades:UnsignedSignatureProperties><xades:SignatureTimeStamp>' +
    `<ds:CanonicalizationMethod Algorithm="${EXCLUSIVE_C14N}"></ds:CanonicalizationMethod>` +
    `<xades:EncapsulatedTimeStamp>${timeStamp}</xades:EncapsulatedTimeStamp>` +
    '</xades:SignatureTimeStamp></xades:UnsignedSignatureProperties></xades:UnsignedProperties>'
  );
}

function escapeText(uri: string): string {
  return uri.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
