import { parseTaxRate } from '../../../domain/invoice/tax-rate.ts';
import { CURRENCY, decimalOf, divideHalfUp } from '../../../domain/money.ts';
import { readXml, type XmlElement } from './read-xml.ts';

const UBL = 'urn:oasis:names:specification:ubl:schema:xsd:';
const CAC = `${UBL}CommonAggregateComponents-2`;
const CBC = `${UBL}CommonBasicComponents-2`;

/**
 * Checks the content of an invoice as a tax authority would, reading it from the submitted bytes: the parties, the
 * dates, the terms of payment, and every figure, recomputed to the centime from the lines' quantities, prices and rates
 * (VAT once per rate, rounded half up).
 * @param customerIce the ICE under which the document was submitted
 * @returns why the invoice is rejected and what to do next, or null when it is valid
 */
export function faultOf(document: Uint8Array, customerIce: string): string | null {
  try {
    const root = readXml(new TextDecoder().decode(document));
    must(
      root !== null && root.uri === `${UBL}Invoice-2` && root.name === 'Invoice',
      'The document is not a UBL 2.1 invoice',
    );
    examineParties(root, customerIce);
    examineTerms(root);
    examineFigures(root);
    return null;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return `${error.message}. This is a fault of the invoicing service: contact its support, then issue a new invoice.`;
  }
}

class Fault extends Error {}

function must(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Fault(message);
}

function examineParties(root: XmlElement, customerIce: string): void {
  must(textOf(root, 'ID') !== '', 'The invoice has no number');
  must(isDate(textOf(root, 'IssueDate')), 'The invoice has no date');
  const [seller, buyer] = ['AccountingSupplierParty', 'AccountingCustomerParty'].map((role) => {
    const party = one(one(root, role), 'Party');
    must(textOf(one(party, 'PartyLegalEntity'), 'RegistrationName') !== '', `The ${role} has no name`);
    return textOf(one(party, 'PartyIdentification'), 'ID');
  });
  must(/^\d{15}$/.test(seller ?? ''), "The seller's ICE is not 15 digits");
  must(buyer === customerIce, `The invoice names the customer ${buyer} but was submitted for ${customerIce}`);
}

function examineTerms(root: XmlElement): void {
  for (const due of all(root, 'DueDate', CBC)) {
    const date = due.text.trim();
    must(isDate(date), 'The due date is not a date');
    must(date >= textOf(root, 'IssueDate'), 'The invoice is due before its own date');
  }
  for (const delivery of all(root, 'Delivery')) {
    must(isDate(textOf(delivery, 'ActualDeliveryDate')), 'The date of the operation is not a date');
  }
  const means = one(root, 'PaymentMeans');
  const code = textOf(means, 'PaymentMeansCode');
  must(/^\d{1,2}$/.test(code), `${code} is not a payment means code of UNCL4461`);
  const accounts = all(means, 'PayeeFinancialAccount').map((account) => textOf(account, 'ID'));
  must(
    accounts.length > 0 || !['30', '58'].includes(code),
    'The invoice asks for a bank transfer but names no account',
  );
  for (const account of accounts) {
    // Computed digit by digit because 24 digits do not fit into a number.
    const remainder = [...account].reduce((rest, digit) => (rest * 10 + Number(digit)) % 97, 0);
    must(/^\d{24}$/.test(account) && remainder === 0, `The account ${account} is not a RIB with a correct check key`);
  }
}

function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && new Date(`${text}T12:00Z`).getUTCDate() === Number(text.slice(8));
}

function examineFigures(root: XmlElement): void {
  const lines = all(root, 'InvoiceLine');
  must(lines.length > 0, 'The invoice has no lines');
  const bases = new Map<string, bigint>();
  lines.forEach((line, index) => {
    const quantity = textOf(line, 'InvoicedQuantity');
    must(/^\d{1,16}$/.test(quantity), `The quantity of line ${index + 1} is not a whole number`);
    const amount = BigInt(quantity) * centimes(one(line, 'Price'), 'PriceAmount');
    mustEqual(`line ${index + 1}`, centimes(line, 'LineExtensionAmount'), amount);
    const rate = textOf(one(one(line, 'Item'), 'ClassifiedTaxCategory'), 'Percent');
    bases.set(rate, (bases.get(rate) ?? 0n) + amount);
  });

  const taxTotal = one(root, 'TaxTotal');
  const subtotals = all(taxTotal, 'TaxSubtotal');
  must(
    subtotals.length === bases.size,
    `The invoice states VAT for ${subtotals.length} rates but its lines use ${bases.size}`,
  );
  let tax = 0n;
  for (const subtotal of subtotals) {
    const rate = textOf(one(subtotal, 'TaxCategory'), 'Percent');
    const base = bases.get(rate);
    must(
      base !== undefined && parseTaxRate(rate) !== null,
      `The invoice states VAT at ${rate} %, which is not a legal rate or is not used by any line`,
    );
    mustEqual(`the base at ${rate} %`, centimes(subtotal, 'TaxableAmount'), base);
    const due = divideHalfUp(base * BigInt(rate), 100n);
    mustEqual(`the VAT at ${rate} %`, centimes(subtotal, 'TaxAmount'), due);
    tax += due;
  }

  const net = [...bases.values()].reduce((sum, base) => sum + base, 0n);
  const totals = one(root, 'LegalMonetaryTotal');
  const rounding =
    all(totals, 'PayableRoundingAmount', CBC).length > 0 ? centimes(totals, 'PayableRoundingAmount') : 0n;
  must(
    2n * (rounding < 0n ? -rounding : rounding) <= BigInt(lines.length),
    'The rounding is more than half a centime per line',
  );
  mustEqual('the VAT', centimes(taxTotal, 'TaxAmount'), tax);
  mustEqual('the sum of the lines', centimes(totals, 'LineExtensionAmount'), net);
  mustEqual('the total without VAT', centimes(totals, 'TaxExclusiveAmount'), net);
  mustEqual('the total with VAT', centimes(totals, 'TaxInclusiveAmount'), net + tax);
  mustEqual('the amount to pay', centimes(totals, 'PayableAmount'), net + tax + rounding);
}

function mustEqual(what: string, stated: bigint, expected: bigint): void {
  must(
    stated === expected,
    `The invoice states ${decimalOf(Number(stated))} for ${what}, but it should be ${decimalOf(Number(expected))}`,
  );
}

function all({ children }: XmlElement, name: string, uri = CAC): XmlElement[] {
  return children.filter((child) => child.name === name && child.uri === uri);
}

function one(parent: XmlElement, name: string, uri = CAC): XmlElement {
  const [child, ...others] = all(parent, name, uri);
  must(child !== undefined && others.length === 0, `${parent.name} must contain exactly one ${name}`);
  return child;
}

function textOf(parent: XmlElement, name: string): string {
  return one(parent, name, CBC).text.trim();
}

function centimes(parent: XmlElement, name: string): bigint {
  const { attributes, text } = one(parent, name, CBC);
  must(attributes.currencyID === CURRENCY, `${name} is not in dirhams`);
  const match = /^(-?)(\d{1,20})(?:\.(\d{1,2}))?$/.exec(text.trim());
  must(match !== null, `${name} is not an amount with at most two decimals`);
  const [, sign = '', whole = '', fraction = ''] = match;
  return BigInt(`${sign}${whole}${fraction.padEnd(2, '0')}`);
}
