import { DS, ENVELOPED_SIGNATURE, EXCLUSIVE_C14N, SHA256, SIGNED_PROPERTIES_TYPE, XADES } from './vocabulary.ts';

/**
 * The rules under which a signer signs, published by whoever demands them (EN 319 132-1, section 5.2.9). A URI says itself where they can
 * be had; there is no SPURI qualifier, because xadesjs can't read one.
 */
export interface SignaturePolicy {
  /** An OID (`1.2.504.1`) or a URI. */
  readonly id: string;
  /** SHA-256 of the policy's document, base64. */
  readonly sha256: string;
}

// What is digested is written here in exclusive canonical form, its own namespace declaration included, so that the digested bytes
// stand in the document as they are. The texts that are filled in are base64, dates and URIs: only these need escaping.

const SIGNATURE_ID = 'signature';
const DOCUMENT_REFERENCE_ID = 'signature-document';
const PROPERTIES_ID = 'signature-properties';

/**
 * The signed properties of XAdES baseline B-B (EN 319 132-1, section 6): SigningTime, SigningCertificateV2, DataObjectFormat. V2 alone:
 * its predecessor SigningCertificate is deprecated, and EU DSS takes a signature with both for none of ETSI's.
 * @param certificateDigest SHA-256 of the DER certificate, base64
 * @param policy makes it the explicit-policy form (B-EPES)
 */
export function signedProperties(
  signingTime: Date,
  certificateDigest: string,
  policy: SignaturePolicy | null = null,
): string {
  return (
    `<xades:SignedProperties xmlns:xades="${XADES}" Id="${PROPERTIES_ID}">` +
    '<xades:SignedSignatureProperties>' +
    `<xades:SigningTime>${signingTime.toISOString().slice(0, 19)}Z</xades:SigningTime>` +
    '<xades:SigningCertificateV2><xades:Cert><xades:CertDigest>' +
    `<ds:DigestMethod xmlns:ds="${DS}" Algorithm="${SHA256}"></ds:DigestMethod>` +
    `<ds:DigestValue xmlns:ds="${DS}">${certificateDigest}</ds:DigestValue>` +
    '</xades:CertDigest></xades:Cert></xades:SigningCertificateV2>' +
    (policy === null ? '' : policyIdentifier(policy)) +
    '</xades:SignedSignatureProperties>' +
    '<xades:SignedDataObjectProperties>' +
    `<xades:DataObjectFormat ObjectReference="#${DOCUMENT_REFERENCE_ID}"><xades:MimeType>text/xml</xades:MimeType></xades:DataObjectFormat>` +
    '</xades:SignedDataObjectProperties>' +
    '</xades:SignedProperties>'
  );
}

/**
 * What the key signs: the digests of the whole document without its signature and of the signed properties.
 * @param signatureMethod URI of the algorithm; the digests are SHA-256, base64
 */
export function signedInfo(signatureMethod: string, documentDigest: string, propertiesDigest: string): string {
  return (
    `<ds:SignedInfo xmlns:ds="${DS}">` +
    `<ds:CanonicalizationMethod Algorithm="${EXCLUSIVE_C14N}"></ds:CanonicalizationMethod>` +
    `<ds:SignatureMethod Algorithm="${signatureMethod}"></ds:SignatureMethod>` +
    reference(`Id="${DOCUMENT_REFERENCE_ID}" URI=""`, [ENVELOPED_SIGNATURE, EXCLUSIVE_C14N], documentDigest) +
    reference(`Type="${SIGNED_PROPERTIES_TYPE}" URI="#${PROPERTIES_ID}"`, [EXCLUSIVE_C14N], propertiesDigest) +
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
 * The ds:Signature element.
 * @param certificates DER, base64, the signer's first
 * @param timeStamp token of the signature value, DER, base64: makes it baseline B-T
 */
export function signature(
  info: string,
  signatureValue: string,
  certificates: readonly string[],
  properties: string,
  timeStamp: string | null = null,
): string {
  return (
    `<ds:Signature xmlns:ds="${DS}" Id="${SIGNATURE_ID}">${info}<ds:SignatureValue>${signatureValue}</ds:SignatureValue>` +
    '<ds:KeyInfo><ds:X509Data>' +
    certificates.map((certificate) => `<ds:X509Certificate>${certificate}</ds:X509Certificate>`).join('') +
    '</ds:X509Data></ds:KeyInfo>' +
    `<ds:Object><xades:QualifyingProperties xmlns:xades="${XADES}" Target="#${SIGNATURE_ID}">${properties}` +
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
