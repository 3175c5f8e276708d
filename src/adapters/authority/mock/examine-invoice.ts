import type { Problem } from '../../../domain/authority/ports.ts';
import { type Kind, kindOfRoot } from '../../../domain/invoice/kinds.ts';
import { examineFigures } from './examine-figures.ts';
import { examineParticulars } from './examine-particulars.ts';
import {
  all,
  CBC,
  called,
  child,
  Fault,
  isCreditNote,
  isDate,
  type Located,
  must,
  one,
  textOf,
  UBL,
} from './located.ts';
import { readXml } from './read-xml.ts';

/**
 * Checks the content of an invoice or credit note as a tax authority would, reading it from the submitted bytes:
 * parties, dates, terms of payment, and the reference of a credit note to its invoice. Recomputes every figure to the
 * centime from the lines' quantities, prices and rates (VAT once per rate, rounded half up).
 * @param customerIce the ICE under which the document was submitted; null if the customer has none
 * @returns the first problem, with the XPath of the element that it is about and a message that ends with what to do;
 * null when the document is valid
 */
export function faultOf(document: Uint8Array, customerIce: string | null): Problem | null {
  try {
    const element = readXml(new TextDecoder().decode(document));
    must(
      element !== null && kindOfRoot(element.name) !== null && element.uri === `${UBL}${element.name}-2`,
      'not_ubl',
      '/',
      'Le document n’est ni une facture ni un avoir UBL 2.1',
    );
    const root: Located = { element, path: `/${element.name}` };
    examineParties(root, customerIce);
    examineTerms(root);
    if (isCreditNote(root)) examineOriginal(root);
    examineParticulars(root);
    examineFigures(root);
    return null;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const { code, path } = error;
    const message = `${error.message}. C’est un défaut du service de facturation : contactez son support.`;
    return { code, path, message };
  }
}

/** The kind of a document, and the identifiers of it and its parties. */
export interface InvoiceIdentity {
  readonly kind: Kind;
  readonly number: string;
  readonly sellerIce: string;
  /** Null if the customer has none. */
  readonly customerIce: string | null;
}

/** Reads seller, customer and number of an invoice; null when the document does not state them as UBL 2.1 does. */
export function identityOf(document: Uint8Array): InvoiceIdentity | null {
  try {
    const element = readXml(new TextDecoder().decode(document));
    const kind = element && kindOfRoot(element.name);
    if (element === null || kind === null) return null;
    const root: Located = { element, path: `/${element.name}` };
    const partyOf = (role: string) => one(one(root, role), 'Party');
    const buyer = partyOf('AccountingCustomerParty');
    return {
      kind,
      number: textOf(child(root, 'ID')),
      sellerIce: textOf(child(one(partyOf('AccountingSupplierParty'), 'PartyIdentification'), 'ID')),
      customerIce: all(buyer, 'PartyIdentification').length === 0 ? null : textOf(iceOf(buyer)),
    };
  } catch (error) {
    if (error instanceof Fault) return null;
    throw error;
  }
}

/** Returns the element with the ICE of a party. */
function iceOf(party: Located): Located {
  return child(one(party, 'PartyIdentification'), 'ID');
}

function examineParties(root: Located, customerIce: string | null): void {
  const number = child(root, 'ID');
  must(textOf(number) !== '', 'number_missing', number.path, `${called(root)} n’a pas de numéro`);
  const issued = child(root, 'IssueDate');
  must(isDate(textOf(issued)), 'date_invalid', issued.path, `${called(root)} n’a pas de date`);
  const [seller, buyer] = (['AccountingSupplierParty', 'AccountingCustomerParty'] as const).map((role) => {
    const party = one(one(root, role), 'Party');
    const name = child(one(party, 'PartyLegalEntity'), 'RegistrationName');
    const who = role === 'AccountingSupplierParty' ? 'Le vendeur' : 'Le client';
    must(textOf(name) !== '', 'name_missing', name.path, `${who} n’a pas de nom`);
    return party;
  }) as [Located, Located];
  const sellerIce = iceOf(seller);
  must(/^\d{15}$/.test(textOf(sellerIce)), 'ice_invalid', sellerIce.path, 'L’ICE du vendeur n’a pas 15 chiffres');
  examineBuyer(root, buyer, customerIce);
}

/** Checks that a buyer in Morocco has the ICE of the submission or none, and a buyer abroad none. */
function examineBuyer(root: Located, buyer: Located, customerIce: string | null): void {
  const [identified = null] = all(buyer, 'PartyIdentification');
  const stated = identified && textOf(iceOf(buyer));
  const [shown, asked] = [stated, customerIce].map((ice) => ice ?? 'sans ICE');
  const at = identified ?? buyer;
  must(
    stated === customerIce,
    'customer_mismatch',
    stated === null ? at.path : iceOf(buyer).path,
    `${called(root)} désigne le client ${shown} mais le document a été transmis pour ${asked}`,
  );
  const country = child(one(one(buyer, 'PostalAddress'), 'Country'), 'IdentificationCode');
  const code = textOf(country);
  must(/^[A-Z]{2}$/.test(code), 'country_invalid', country.path, 'Le pays du client n’est pas un code ISO 3166-1');
  const isAbroad = code !== 'MA';
  must(!isAbroad || stated === null, 'ice_unfit', at.path, 'Un client étranger n’a pas d’ICE');
  for (const registration of all(buyer, 'PartyTaxScheme')) {
    const number = child(registration, 'CompanyID');
    must(
      isAbroad && textOf(number) !== '',
      'tax_number_unfit',
      number.path,
      'Seul un client étranger a un numéro fiscal',
    );
  }
}

function examineOriginal(root: Located): void {
  const original = one(one(root, 'BillingReference'), 'InvoiceDocumentReference');
  const number = child(original, 'ID');
  must(textOf(number) !== '', 'original_missing', number.path, 'L’avoir n’indique pas le numéro de sa facture');
  const issued = child(original, 'IssueDate');
  must(
    isDate(textOf(issued)) && textOf(issued) <= textOf(child(root, 'IssueDate')),
    'original_date_invalid',
    issued.path,
    'La date de la facture n’est pas une date, ou suit celle de l’avoir',
  );
}

function examineTerms(root: Located): void {
  for (const due of all(root, 'DueDate', CBC)) {
    const date = textOf(due);
    must(isDate(date), 'due_date_invalid', due.path, 'La date d’échéance n’est pas une date');
    must(
      date >= textOf(child(root, 'IssueDate')),
      'due_date_invalid',
      due.path,
      'La date d’échéance précède la date de la facture',
    );
  }
  for (const delivery of all(root, 'Delivery')) {
    const date = child(delivery, 'ActualDeliveryDate');
    must(isDate(textOf(date)), 'operation_date_invalid', date.path, 'La date de l’opération n’est pas une date');
  }
  const means = one(root, 'PaymentMeans');
  const code = child(means, 'PaymentMeansCode');
  must(
    /^\d{1,2}$/.test(textOf(code)),
    'payment_means_invalid',
    code.path,
    `${textOf(code)} n’est pas un code de mode de paiement (UNCL4461)`,
  );
  const accounts = all(means, 'PayeeFinancialAccount').map((account) => child(account, 'ID'));
  must(
    accounts.length > 0 || !['30', '58'].includes(textOf(code)),
    'account_missing',
    means.path,
    `${called(root)} demande un virement sans indiquer de compte`,
  );
  for (const account of accounts) {
    const digits = textOf(account);
    // Computed digit by digit because 24 digits do not fit into a number.
    const remainder = [...digits].reduce((rest, digit) => (rest * 10 + Number(digit)) % 97, 0);
    must(
      /^\d{24}$/.test(digits) && remainder === 0,
      'account_invalid',
      account.path,
      `Le compte ${digits} n’est pas un RIB dont la clé est juste`,
    );
  }
}
