import type { Problem } from '../../../domain/authority/ports.ts';
import { type Kind, kindOfRoot } from '../../../domain/invoice/kinds.ts';
import { examineFigures } from './examine-figures.ts';
import { all, CBC, called, child, Fault, isCreditNote, type Located, must, one, textOf, UBL } from './located.ts';
import { readXml } from './read-xml.ts';

/**
 * Checks the content of an invoice or credit note as a tax authority would, reading it from the submitted bytes:
 * parties, dates, terms of payment, and the reference of a credit note to its invoice. Recomputes every figure to the
 * centime from the lines' quantities, prices and rates (VAT once per rate, rounded half up).
 * @param customerIce the ICE under which the document was submitted
 * @returns the first problem, with the XPath of the element that it is about and a message that ends with what to do;
 * null when the document is valid
 */
export function faultOf(document: Uint8Array, customerIce: string): Problem | null {
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
  readonly customerIce: string;
}

/** Reads seller, customer and number of an invoice; null when the document does not state them as UBL 2.1 does. */
export function identityOf(document: Uint8Array): InvoiceIdentity | null {
  try {
    const element = readXml(new TextDecoder().decode(document));
    const kind = element && kindOfRoot(element.name);
    if (element === null || kind === null) return null;
    const root: Located = { element, path: `/${element.name}` };
    const iceOf = (role: string) => textOf(child(one(one(one(root, role), 'Party'), 'PartyIdentification'), 'ID'));
    return {
      kind,
      number: textOf(child(root, 'ID')),
      sellerIce: iceOf('AccountingSupplierParty'),
      customerIce: iceOf('AccountingCustomerParty'),
    };
  } catch (error) {
    if (error instanceof Fault) return null;
    throw error;
  }
}

function examineParties(root: Located, customerIce: string): void {
  const number = child(root, 'ID');
  must(textOf(number) !== '', 'number_missing', number.path, `${called(root)} n’a pas de numéro`);
  const issued = child(root, 'IssueDate');
  must(isDate(textOf(issued)), 'date_invalid', issued.path, `${called(root)} n’a pas de date`);
  const [seller, buyer] = (['AccountingSupplierParty', 'AccountingCustomerParty'] as const).map((role) => {
    const party = one(one(root, role), 'Party');
    const name = child(one(party, 'PartyLegalEntity'), 'RegistrationName');
    const who = role === 'AccountingSupplierParty' ? 'Le vendeur' : 'Le client';
    must(textOf(name) !== '', 'name_missing', name.path, `${who} n’a pas de nom`);
    return child(one(party, 'PartyIdentification'), 'ID');
  }) as [Located, Located];
  must(/^\d{15}$/.test(textOf(seller)), 'ice_invalid', seller.path, 'L’ICE du vendeur n’a pas 15 chiffres');
  must(
    textOf(buyer) === customerIce,
    'customer_mismatch',
    buyer.path,
    `${called(root)} désigne le client ${textOf(buyer)} mais le document a été transmis pour ${customerIce}`,
  );
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

function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && new Date(`${text}T12:00Z`).getUTCDate() === Number(text.slice(8));
}
