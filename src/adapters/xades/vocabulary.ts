import { CLEARANCE } from '../../domain/verification/cut-clearance.ts';
import type { SignedForm } from '../../domain/verification/verification.ts';

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

const UBL_ROOTS = {
  Invoice: 'urn:oasis:names:specification:ubl:schema:xsd:Invoice-2',
  CreditNote: 'urn:oasis:names:specification:ubl:schema:xsd:CreditNote-2',
};

const UBL_SIGNATURE_PATH = [
  [EXT, 'UBLExtensions'],
  [EXT, 'UBLExtension'],
  [EXT, 'ExtensionContent'],
  [SIG, 'UBLDocumentSignatures'],
  [SAC, 'SignatureInformation'],
] as const;

const CAC = 'urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2';
const RECEIPT = 'urn:authority:receipt:1';
const RECEIPT_ELEMENTS = ['DgiId', 'SubmissionId', 'Digest', 'Status', 'DecidedAt'] as const;

/** A kind of document that can be verified. */
interface Form {
  /** The name of the form in messages. */
  readonly called: string;
  /** The document types: the namespace of each root element, by its local name. */
  readonly roots: Readonly<Record<string, string>>;
  /** The path from the root to the parent of ds:Signature. Each element occurs exactly once. */
  readonly signaturePath: readonly (readonly [uri: string, name: string])[];
  /** The paths of the texts that are read from a verified document. */
  readonly facts: Readonly<Record<string, readonly (readonly [uri: string, name: string])[]>>;
  /** Whether the signature refers to the root by its Id, because the root is part of a larger document. */
  readonly byId: boolean;
  /** Whether the root has no elements besides the facts, each once, and the signature. */
  readonly closed: boolean;
}

const statementsIn = (uri: string): Form['facts'] =>
  Object.fromEntries(RECEIPT_ELEMENTS.map((name) => [name, [[uri, name]]]));

const party = (role: string) =>
  [[CAC, role], [CAC, 'Party'], [CAC, 'PartyIdentification'], [CBC, 'ID']] as const; // biome-ignore format: a path

export const FORMS: Readonly<Record<SignedForm, Form>> = {
  /** Places the signature as UBL 2.1, section 5, requires. */
  ubl: {
    called: 'a UBL 2.1 invoice or credit note',
    roots: UBL_ROOTS,
    signaturePath: UBL_SIGNATURE_PATH,
    facts: {
      sellerIce: party('AccountingSupplierParty'),
      customerIce: party('AccountingCustomerParty'),
      issueDate: [[CBC, 'IssueDate']],
      currency: [[CBC, 'DocumentCurrencyCode']],
      taxAmount: [
        [CAC, 'TaxTotal'],
        [CBC, 'TaxAmount'],
      ],
      payable: [
        [CAC, 'LegalMonetaryTotal'],
        [CBC, 'PayableAmount'],
      ],
    },
    byId: false,
    closed: false,
  },
  receipt: {
    called: 'a receipt of the tax authority',
    roots: { Receipt: RECEIPT },
    signaturePath: [],
    facts: statementsIn(RECEIPT),
    byId: false,
    closed: true,
  },
  clearance: {
    called: 'a clearance of the tax authority',
    roots: { Clearance: CLEARANCE },
    signaturePath: [],
    facts: statementsIn(CLEARANCE),
    byId: true,
    closed: true,
  },
};
