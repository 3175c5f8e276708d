import type { Problem } from '../../../domain/authority/ports.ts';
import { LIMITS } from '../../../domain/invoice/field-input.ts';
import { type Kind, kindOfRoot } from '../../../domain/invoice/kinds.ts';
import { parseTaxRate } from '../../../domain/invoice/tax-rate.ts';
import { CURRENCY, decimalOf, divideHalfUp } from '../../../domain/money.ts';
import { readXml, type XmlElement } from './read-xml.ts';

const UBL = 'urn:oasis:names:specification:ubl:schema:xsd:';
const CAC = `${UBL}CommonAggregateComponents-2`;
const CBC = `${UBL}CommonBasicComponents-2`;

/** An element with its path from the root: `/Invoice/cac:InvoiceLine[2]/cbc:InvoicedQuantity`. */
interface Located {
  readonly element: XmlElement;
  readonly path: string;
}

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

class Fault extends Error {
  readonly code: string;
  readonly path: string;

  constructor(code: string, path: string, message: string) {
    super(message);
    this.code = code;
    this.path = path;
  }
}

function must(condition: boolean, code: string, path: string, message: string): asserts condition {
  if (!condition) throw new Fault(code, path, message);
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

function isCreditNote({ path }: Located): boolean {
  return path.startsWith('/CreditNote');
}

/** How messages name the document of this element. */
function called(at: Located): string {
  return isCreditNote(at) ? 'L’avoir' : 'La facture';
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

function examineFigures(root: Located): void {
  const bases = basesOf(root);
  const taxTotal = one(root, 'TaxTotal');
  const subtotals = all(taxTotal, 'TaxSubtotal');
  must(
    subtotals.length === bases.size,
    'tax_rates_wrong',
    taxTotal.path,
    `${called(root)} détaille la TVA de ${subtotals.length} taux, mais ses lignes en utilisent ${bases.size}`,
  );
  let tax = 0n;
  for (const subtotal of subtotals) {
    const percent = child(one(subtotal, 'TaxCategory'), 'Percent');
    const rate = textOf(percent);
    const base = bases.get(rate);
    must(
      base !== undefined && parseTaxRate(rate) !== null,
      'tax_rate_invalid',
      percent.path,
      `${called(root)} indique une TVA à ${rate} %, taux qui n’est pas légal ou qu’aucune ligne n’utilise`,
    );
    mustEqual(`la base à ${rate} %`, child(subtotal, 'TaxableAmount'), base);
    const due = divideHalfUp(base * BigInt(rate), 100n);
    const stated = child(subtotal, 'TaxAmount');
    if (!isCreditNote(root) || !isNear(centimes(stated), due)) mustEqual(`la TVA à ${rate} %`, stated, due);
    tax += centimes(stated);
  }
  mustEqual('la TVA', child(taxTotal, 'TaxAmount'), tax);
  examineTotals(root, [...bases.values()], tax);
}

/**
 * Whether the VAT of a credit note is less than a dirham from the computed one (EN 16931, BR-S-09): the credit notes of
 * an invoice add up to its VAT, so each may differ by rounding.
 */
function isNear(stated: bigint, computed: bigint): boolean {
  return stated - computed < 100n && computed - stated < 100n;
}

/** Checks each line. @returns the sum of the lines by VAT rate, in centimes */
function basesOf(root: Located): Map<string, bigint> {
  const lines = linesOf(root);
  must(lines.length > 0, 'lines_missing', root.path, `${called(root)} n’a pas de lignes`);
  const bases = new Map<string, bigint>();
  lines.forEach((line, index) => {
    const quantity = child(line, isCreditNote(root) ? 'CreditedQuantity' : 'InvoicedQuantity');
    must(
      /^\d{1,16}$/.test(textOf(quantity)),
      'quantity_invalid',
      quantity.path,
      `La quantité de la ligne ${index + 1} n’est pas un nombre entier`,
    );
    const amount = BigInt(textOf(quantity)) * centimes(child(one(line, 'Price'), 'PriceAmount'));
    mustEqual(`la ligne ${index + 1}`, child(line, 'LineExtensionAmount'), amount);
    const rate = textOf(child(one(one(line, 'Item'), 'ClassifiedTaxCategory'), 'Percent'));
    bases.set(rate, (bases.get(rate) ?? 0n) + amount);
  });
  return bases;
}

function linesOf(root: Located): Located[] {
  return all(root, `${root.element.name}Line`);
}

function examineTotals(root: Located, bases: readonly bigint[], tax: bigint): void {
  const net = bases.reduce((sum, base) => sum + base, 0n);
  const totals = one(root, 'LegalMonetaryTotal');
  const [stated] = all(totals, 'PayableRoundingAmount', CBC);
  const rounding = stated === undefined ? 0n : centimes(stated);
  // A credit note may take the whole rounding of an invoice of any length.
  const lines = isCreditNote(root) ? LIMITS.lines : linesOf(root).length;
  must(
    2n * (rounding < 0n ? -rounding : rounding) <= BigInt(lines),
    'rounding_too_large',
    stated?.path ?? totals.path,
    `L’arrondi dépasse un demi-centime pour chacune de ${lines} lignes`,
  );
  mustEqual('la somme des lignes', child(totals, 'LineExtensionAmount'), net);
  mustEqual('le total hors taxes', child(totals, 'TaxExclusiveAmount'), net);
  mustEqual('le total TTC', child(totals, 'TaxInclusiveAmount'), net + tax);
  mustEqual('le net à payer', child(totals, 'PayableAmount'), net + tax + rounding);
}

function mustEqual(what: string, amount: Located, expected: bigint): void {
  const stated = centimes(amount);
  must(
    stated === expected,
    'amount_wrong',
    amount.path,
    `${called(amount)} indique ${decimalOf(Number(stated))} pour ${what}, au lieu de ${decimalOf(Number(expected))}`,
  );
}

const PREFIX: Readonly<Record<string, string>> = { [CAC]: 'cac', [CBC]: 'cbc' };

function all({ element, path }: Located, name: string, uri = CAC): Located[] {
  const found = element.children.filter((each) => each.name === name && each.uri === uri);
  return found.map((each, index) => ({
    element: each,
    path: `${path}/${PREFIX[uri]}:${name}${found.length > 1 ? `[${index + 1}]` : ''}`,
  }));
}

function one(parent: Located, name: string, uri = CAC): Located {
  const [found, ...others] = all(parent, name, uri);
  must(
    found !== undefined && others.length === 0,
    'element_missing',
    parent.path,
    `${parent.element.name} doit contenir exactement un élément ${name}`,
  );
  return found;
}

/** Returns the only child with this name. */
function child(parent: Located, name: string): Located {
  return one(parent, name, CBC);
}

function textOf({ element }: Located): string {
  return element.text.trim();
}

function centimes(amount: Located): bigint {
  const { attributes, name } = amount.element;
  must(attributes.currencyID === CURRENCY, 'currency_invalid', amount.path, `${name} n’est pas en dirhams`);
  const match = /^(-?)(\d{1,20})(?:\.(\d{1,2}))?$/.exec(textOf(amount));
  must(match !== null, 'amount_invalid', amount.path, `${name} n’est pas un montant à deux décimales au plus`);
  const [, sign = '', whole = '', fraction = ''] = match;
  return BigInt(`${sign}${whole}${fraction.padEnd(2, '0')}`);
}
