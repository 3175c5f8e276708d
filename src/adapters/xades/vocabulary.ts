/** Identifiers of XML Signature, XAdES (ETSI EN 319 132-1) and UBL's signature extension. */
export const DS = 'http://www.w3.org/2000/09/xmldsig#';
export const XADES = 'http://uri.etsi.org/01903/v1.3.2#';
export const EXCLUSIVE_C14N = 'http://www.w3.org/2001/10/xml-exc-c14n#';
export const ENVELOPED_SIGNATURE = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';
export const SHA256 = 'http://www.w3.org/2001/04/xmlenc#sha256';
export const RSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
export const ECDSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256';
export const SIGNED_PROPERTIES_TYPE = 'http://uri.etsi.org/01903#SignedProperties';

const CBC = 'urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2';
const EXT = 'urn:oasis:names:specification:ubl:schema:xsd:CommonExtensionComponents-2';
const SIG = 'urn:oasis:names:specification:ubl:schema:xsd:CommonSignatureComponents-2';
const SAC = 'urn:oasis:names:specification:ubl:schema:xsd:SignatureAggregateComponents-2';

/** Namespace of cbc:ID, the number of a UBL document. */
export const UBL_BASIC_COMPONENTS = CBC;

/** The document types that can be signed: namespace by local name of the root element. */
export const UBL_ROOTS: Readonly<Record<string, string>> = {
  Invoice: 'urn:oasis:names:specification:ubl:schema:xsd:Invoice-2',
  CreditNote: 'urn:oasis:names:specification:ubl:schema:xsd:CreditNote-2',
};

/** The path from the root to the parent of ds:Signature (UBL 2.1, section 5). Each element occurs exactly once. */
export const UBL_SIGNATURE_PATH = [
  [EXT, 'UBLExtensions'],
  [EXT, 'UBLExtension'],
  [EXT, 'ExtensionContent'],
  [SIG, 'UBLDocumentSignatures'],
  [SAC, 'SignatureInformation'],
] as const;
