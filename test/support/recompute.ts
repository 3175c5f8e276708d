import { DOMParser, type Element } from '@xmldom/xmldom';
import type { LegalInvoice } from '../../src/domain/invoice/ports.ts';
import type { Specimen } from './corpus.ts';
import { equal, fraction, nearest, per, times } from './fractions.ts';
import { figuresOf, statedOf } from './recompute-document.ts';
import { dueFigures, type Figures } from './recompute-figures.ts';
import { withheldTexts } from './recompute-withholding.ts';

const UBL = 'urn:oasis:names:specification:ubl:schema:xsd:';
const NAMESPACE: Readonly<Record<string, string>> = {
  cac: `${UBL}CommonAggregateComponents-2`,
  cbc: `${UBL}CommonBasicComponents-2`,
};

/** Names and codes of UBL 2.1 by kind. */
const WRITTEN = {
  invoice: { root: 'Invoice', code: '380', quantity: 'Invoiced' },
  credit_note: { root: 'CreditNote', code: '381', quantity: 'Credited' },
} as const;

/**
 * Compares a signed document with its source, without code of the service: xmldom parses the document, and all figures
 * are recomputed as decimal fractions.
 * @returns the differences
 */
export function differences(document: Uint8Array, specimen: Omit<Specimen, 'name'>): string[] {
  const { invoice } = specimen;
  const written = WRITTEN[invoice.kind];
  const root = parsed(document);
  const found: string[] = [];
  const same = (what: string, written: unknown, due: unknown) => {
    if (written !== due) found.push(`${what}: ${written} is written, ${due} is due`);
  };
  same('root', root.localName, written.root);
  same('type', text(root, `cbc:${written.root}TypeCode`), invoice.isDeposit ? '386' : written.code);
  const lines = all(root, `cac:${written.root}Line`);
  same('lines', lines.length, invoice.lines.length);
  invoice.lines.forEach((line, index) => {
    const at = lines[index];
    if (at === undefined) return;
    same(`description ${index}`, text(at, 'cac:Item/cbc:Name'), asXmlReads(line.description));
    same(`quantity ${index}`, text(at, `cbc:${written.quantity}Quantity`), String(line.quantity));
    same(`unit ${index}`, all(at, `cbc:${written.quantity}Quantity`)[0]?.getAttribute('unitCode'), line.unit ?? 'C62');
    const allowed = centimesOf(text(at, 'cac:AllowanceCharge/cbc:Amount') ?? '0.00');
    const amount = centimesOf(text(at, 'cbc:LineExtensionAmount') ?? '');
    same(`discount ${index}`, all(at, 'cac:AllowanceCharge').length, line.discount ? 1 : 0);
    const price = text(at, 'cac:Price/cbc:PriceAmount') ?? '';
    if (line.taxIncluded) {
      // Without tax, each line differs from its share by less than a centime; its price is for the whole quantity.
      const off = amount * BigInt(100 + line.taxRate) - statedOf(line) * 100n;
      same(`amount ${index} near its share`, off < 0n ? -off < 100 + line.taxRate : off < 100 + line.taxRate, true);
      same(`base quantity ${index}`, text(at, 'cac:Price/cbc:BaseQuantity'), String(line.quantity));
      same(`price ${index}`, centimesOf(price), amount + allowed);
    } else {
      same(`price ${index}`, equal(times(fraction(price), per(100, 1)), fraction(line.unitPrice)), true);
      same(`amount ${index}`, amount, statedOf(line));
      same(
        `price less discount ${index}`,
        nearest(times(fraction(line.quantity), fraction(line.unitPrice))) - allowed,
        amount,
      );
    }
    const exemption = text(at, 'cbc:Note');
    same(`exemption ${index}`, exemption !== undefined, line.exemption != null);
    same(
      `certificate ${index}`,
      exemption?.includes('attestation'),
      line.exemption ? line.exemption.certificate != null : undefined,
    );
    same(`rate ${index}`, text(at, 'cac:Item/cac:ClassifiedTaxCategory/cbc:Percent'), String(line.taxRate));
  });

  const { rates, amount } = dueFigures(specimen);
  const { discount, charge } = invoice.totals;
  const shares = invoice.kind === 'invoice' ? figuresOf({ lines: invoice.lines, discount, charge }) : [];
  const deposits = invoice.deduction?.deposits ?? [];
  const rated = all(root, 'cac:TaxTotal/cac:TaxSubtotal').map((each) =>
    ['cac:TaxCategory/cbc:Percent', 'cbc:TaxableAmount', 'cbc:TaxAmount'].map((path) => text(each, path)),
  );
  // A rate that deposits have taken completely is stated with zero amounts, because its lines need their VAT (BR-S-01).
  const taken = shares.flatMap(({ rate }) =>
    rates.some((each) => each.rate === rate) ? [] : { rate, base: 0n, tax: 0n },
  );
  const due = [...rates, ...(deposits.length > 0 ? taken : [])]
    .toSorted((a, b) => b.rate - a.rate)
    .map(({ rate, base, tax }) => [String(rate), dirhams(base), dirhams(tax)]);
  same('rates, bases and VAT', JSON.stringify(rated), JSON.stringify(due));
  const net = rates.reduce((sum, { base }) => sum + base, 0n);
  const tax = rates.reduce((sum, each) => sum + each.tax, 0n);
  const rounding = amount - net - tax;
  same('VAT', text(root, 'cac:TaxTotal/cbc:TaxAmount'), dirhams(tax));
  const totals = 'cac:LegalMonetaryTotal/cbc:';
  const adjustments = all(root, 'cac:AllowanceCharge').map((each) => [
    ...['cbc:ChargeIndicator', 'cbc:AllowanceChargeReason', 'cbc:Amount'].map((path) => text(each, path)),
    text(each, 'cac:TaxCategory/cbc:Percent'),
  ]);
  const stated = (name: 'discount' | 'charge', word: string) =>
    shares.flatMap((each) => {
      const reason = asXmlReads(invoice.totals[name]?.reason || word);
      return each[name] === 0n ? [] : [[String(name === 'charge'), reason, dirhams(each[name]), String(each.rate)]];
    });
  const deducted = deposits.flatMap(({ invoice: { number, issueDate }, rates: of }) =>
    of.map(({ rate, base }) => {
      return ['false', asXmlReads(`Acompte facturé : ${number} du ${issueDate}`), dirhams(BigInt(base)), String(rate)];
    }),
  );
  same(
    'adjustments',
    JSON.stringify(adjustments),
    JSON.stringify([...stated('discount', 'Remise'), ...stated('charge', 'Frais'), ...deducted]),
  );
  const [discounted, on] = (['discount', 'charge'] as const).map((name) =>
    shares.reduce((sum, each) => sum + each[name], 0n),
  ) as [bigint, bigint];
  const off = deposits.flatMap(({ rates: of }) => of).reduce((sum, { base }) => sum + BigInt(base), discounted);
  same('discount', text(root, `${totals}AllowanceTotalAmount`), off === 0n ? undefined : dirhams(off));
  same('charge', text(root, `${totals}ChargeTotalAmount`), on === 0n ? undefined : dirhams(on));
  same('sum of the lines', text(root, `${totals}LineExtensionAmount`), dirhams(net + off - on));
  same('without VAT', text(root, `${totals}TaxExclusiveAmount`), dirhams(net));
  same('with VAT', text(root, `${totals}TaxInclusiveAmount`), dirhams(net + tax));
  same('rounding', text(root, `${totals}PayableRoundingAmount`), rounding === 0n ? undefined : dirhams(rounding));
  same('to pay', text(root, `${totals}PayableAmount`), dirhams(amount));
  const withheld = withheldTexts(invoice, tax, amount);
  same('withheld', text(root, 'cac:WithholdingTaxTotal/cbc:TaxAmount'), withheld?.amount);
  const share = 'cac:WithholdingTaxTotal/cac:TaxSubtotal/cbc:';
  same('share withheld', text(root, `${share}Percent`), withheld?.percent);
  same('amount of the share', text(root, `${share}TaxAmount`), withheld?.amount);
  same('VAT of which it is', text(root, `${share}TaxableAmount`), withheld?.base);
  same('terms', text(root, 'cac:PaymentTerms/cbc:Note'), withheld?.note);
  const corrected = 'cac:BillingReference/cac:InvoiceDocumentReference/cbc:';
  const { original, note } = invoice.credit ?? {};
  const named = deposits.length > 0 ? deposits.map((each) => each.invoice) : original ? [original] : [];
  const referenced = (member: string) => all(root, `${corrected}${member}`).map((each) => each.textContent);
  const sameReferences = (name: string, member: string, of: readonly (string | undefined)[]) =>
    same(name, JSON.stringify(referenced(member)), JSON.stringify(of));
  sameReferences(
    'corrected or deducted numbers',
    'ID',
    named.map(({ number }) => asXmlReads(number)),
  );
  sameReferences(
    'their UUIDs',
    'UUID',
    named.flatMap(({ id }) => id?.slice('inv_'.length) ?? []),
  );
  sameReferences(
    'their dates',
    'IssueDate',
    named.map(({ issueDate }) => issueDate),
  );
  const notes = all(root, 'cbc:Note').map((each) => each.textContent ?? '');
  if (note != null) same('note', notes[1]?.endsWith(asXmlReads(note)), true);
  same('number', text(root, 'cbc:ID'), invoice.number);
  const { terms } = invoice;
  same('date', text(root, 'cbc:IssueDate'), invoice.issueDate);
  same('due date', text(root, 'cbc:DueDate'), terms.dueDate ?? undefined);
  same('operation', text(root, 'cac:Delivery/cbc:ActualDeliveryDate'), terms.operationDate ?? undefined);
  const [means] = all(root, 'cac:PaymentMeans/cbc:PaymentMeansCode');
  same('payment mode', means?.getAttribute('name'), asAttributeReads(terms.paymentMode));
  same('payment code', means?.textContent, codeOf(terms));
  same(
    'payment reference',
    text(root, 'cac:PaymentMeans/cbc:PaymentID'),
    terms.paymentReference?.trim() ? asXmlReads(terms.paymentReference) : undefined,
  );
  same('account', text(root, 'cac:PaymentMeans/cac:PayeeFinancialAccount/cbc:ID'), terms.bankAccount ?? undefined);
  const { references, servicePeriod, foreignValue } = invoice;
  same('period from', text(root, 'cac:InvoicePeriod/cbc:StartDate'), servicePeriod?.from);
  same('period to', text(root, 'cac:InvoicePeriod/cbc:EndDate'), servicePeriod?.to);
  same('order', text(root, 'cac:OrderReference/cbc:ID'), references?.order ?? undefined);
  same('contract', text(root, 'cac:ContractDocumentReference/cbc:ID'), references?.contract ?? undefined);
  same('foreign currency', text(root, 'cac:PricingExchangeRate/cbc:SourceCurrencyCode'), foreignValue?.currency);
  const rate = text(root, 'cac:PricingExchangeRate/cbc:CalculationRate');
  same('rate', rate === undefined ? undefined : Number(rate), foreignValue?.rate);
  const noted = notes.flatMap((note) => /^Valeur convenue : ([\d,]+) (.*?) /.exec(note)?.slice(1) ?? []);
  same(
    'foreign amount',
    noted[0]?.replace(',', ''),
    foreignValue ? String(foreignValue.amount).padStart(3, '0') : undefined,
  );
  same('its currency', noted[1], foreignValue?.currency);
  same(
    'seller',
    text(root, 'cac:AccountingSupplierParty/cac:Party/cac:PartyName/cbc:Name'),
    asXmlReads(invoice.seller.legalName),
  );
  same(
    'buyer',
    text(root, 'cac:AccountingCustomerParty/cac:Party/cac:PartyLegalEntity/cbc:RegistrationName'),
    asXmlReads(invoice.customer.name),
  );
  same(
    "buyer's ICE",
    text(root, 'cac:AccountingCustomerParty/cac:Party/cac:PartyIdentification/cbc:ID'),
    invoice.customer.ice ?? undefined,
  );
  const buyer = 'cac:AccountingCustomerParty/cac:Party/cac:';
  const { country, taxNumber } = invoice.customer;
  same('country', text(root, `${buyer}PostalAddress/cac:Country/cbc:IdentificationCode`), country ?? 'MA');
  same('tax number', text(root, `${buyer}PartyTaxScheme/cbc:CompanyID`), taxNumber ?? undefined);
  return found;
}

/** Returns the figures that a document states. */
export function statedFigures(document: Uint8Array): Figures {
  const root = parsed(document);
  const centimes = (from: Element, path: string) => centimesOf(text(from, path) ?? '');
  return {
    rates: all(root, 'cac:TaxTotal/cac:TaxSubtotal').map((each) => ({
      rate: Number(text(each, 'cac:TaxCategory/cbc:Percent')),
      base: centimes(each, 'cbc:TaxableAmount'),
      tax: centimes(each, 'cbc:TaxAmount'),
    })),
    amount: centimes(root, 'cac:LegalMonetaryTotal/cbc:PayableAmount'),
  };
}

/** @throws if the document is not XML */
function parsed(document: Uint8Array): Element {
  const root = new DOMParser().parseFromString(Buffer.from(document).toString(), 'text/xml').documentElement;
  if (root === null) throw new Error('not XML');
  return root;
}

function all(from: Element, path: string): Element[] {
  return path.split('/').reduce<Element[]>(
    (parents, step) => {
      const [prefix = '', name = ''] = step.split(':');
      return parents.flatMap((parent) =>
        [...parent.childNodes].filter(
          (node): node is Element =>
            node.nodeType === 1 && node.localName === name && node.namespaceURI === NAMESPACE[prefix],
        ),
      );
    },
    [from],
  );
}

function text(from: Element, path: string): string | undefined {
  return all(from, path)[0]?.textContent ?? undefined;
}

/** Codes of UN/CEFACT's list 4461 by payment means. */
const CODES: Readonly<Record<string, string>> = {
  cash: '10',
  cheque: '20',
  bill_of_exchange: '24',
  card: '48',
  direct_debit: '49',
  promissory_note: '60',
  online: '68',
  clearing: '97',
  transfer: '30',
  'transfer without an account': '42',
  none: '1',
};

function codeOf({ paymentMeans, bankAccount }: LegalInvoice['terms']): string | undefined {
  if (paymentMeans === 'transfer' && bankAccount === null) return CODES['transfer without an account'];
  return CODES[paymentMeans ?? 'none'];
}

/** Replaces runs of white space by one space, as the writer does in attributes. */
function asAttributeReads(written: string): string {
  return asXmlReads(written).replace(/[\t\n ]+/g, ' ');
}

/** Replaces line ends by LF, as XML parsers do. */
function asXmlReads(written: string): string {
  return written.replace(/\r\n?/g, '\n');
}

function centimesOf(written: string): bigint {
  return BigInt(written.replace('.', ''));
}

function dirhams(centimes: bigint): string {
  const digits = String(centimes < 0n ? -centimes : centimes).padStart(3, '0');
  return `${centimes < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
