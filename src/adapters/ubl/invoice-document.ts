import { quantityText, unitPriceText } from '../../domain/decimal.ts';
import type { Credit, Original } from '../../domain/invoice/credit.ts';
import { deductedRates } from '../../domain/invoice/deduction.ts';
import { KINDS, type Kind, ublTypeOf } from '../../domain/invoice/kinds.ts';
import { netDiscountOf } from '../../domain/invoice/line-amounts.ts';
import type { LegalInvoice, LegalLine } from '../../domain/invoice/ports.ts';
import type { RateTotal } from '../../domain/invoice/tax-rate.ts';
import type { LegalTerms } from '../../domain/invoice/terms.ts';
import { unitCode } from '../../domain/invoice/units.ts';
import { type Centimes, CURRENCY } from '../../domain/money.ts';
import { exemptionReasonOf, exemptionText, type LineExemption } from '../../domain/morocco/exemptions.ts';
import { paymentMeansCode } from '../../domain/payment-means.ts';
import { CREDIT_REASON_TEXTS } from '../../text/credit-reasons.ts';
import { amountInFrenchWords } from '../../text/french-words.ts';
import { adjustments, adjustmentTotals, lineDiscount } from './allowances.ts';
import { type Element, SIGNATURE_PLACE } from './canonical-xml.ts';
import { contractReference, exchangeRate, foreignValueNote, invoicePeriod, orderReference } from './particulars.ts';
import { customerParty, isWritten, sellerParty } from './parties.ts';
import { taxCategory, taxSubtotal } from './tax-category.ts';
import { group, money, text } from './vocabulary.ts';
import { withholdingTerms, withholdingTotal } from './withholding.ts';

/** Builds the document as an element tree, in the order of UBL 2.1's schemas Invoice and CreditNote. */
export function invoiceDocument(invoice: LegalInvoice): Element {
  const { kind, isDeposit = false, deduction, credit, replaces, number, issueDate, terms, seller, customer } = invoice;
  const { lines, totals, amount, currency, references, servicePeriod, foreignValue } = invoice;
  const { ublRoot } = KINDS[kind];
  const corrected = credit?.original ?? replaces;
  const exemptionReason = exemptionReasonOf(lines, seller.exemptionReason, 'fr');
  const notes = [
    amountNote(kind, amount),
    ...(credit ? [reasonNote(credit)] : []),
    ...(foreignValue ? [foreignValueNote(foreignValue)] : []),
    ...(testNote(invoice) ?? []),
  ];
  return group(
    ublRoot,
    signatureExtension(ublRoot),
    text('cbc:UBLVersionID', '2.1'),
    text('cbc:CustomizationID', 'urn:cen.eu:en16931:2017'),
    text('cbc:ID', number),
    text('cbc:UUID', uuidOf(invoice.id)),
    text('cbc:IssueDate', issueDate),
    kind === 'invoice' && terms.dueDate !== null && text('cbc:DueDate', terms.dueDate),
    text(`cbc:${ublRoot}TypeCode`, ublTypeOf(kind, isDeposit)),
    ...notes.map((note) => text('cbc:Note', note)),
    text('cbc:DocumentCurrencyCode', currency),
    invoicePeriod(servicePeriod),
    orderReference(references),
    ...[corrected ?? [], (deduction?.deposits ?? []).map((deposit) => deposit.invoice)].flat().map(billingReference),
    contractReference(references),
    group('cac:Signature', text('cbc:ID', signatureId(ublRoot)), text('cbc:SignatureMethod', ENVELOPED_XADES)),
    sellerParty(seller),
    customerParty(customer),
    delivery(terms),
    paymentMeans(terms),
    withholdingTerms(invoice),
    ...adjustments(invoice, exemptionReason),
    exchangeRate(foreignValue),
    group(
      'cac:TaxTotal',
      money('cbc:TaxAmount', totals.tax),
      ...statedRates(invoice).map((total) => taxSubtotal(total, exemptionReason)),
    ),
    withholdingTotal(invoice),
    group(
      'cac:LegalMonetaryTotal',
      money('cbc:LineExtensionAmount', totals.linesNet),
      money('cbc:TaxExclusiveAmount', totals.net),
      money('cbc:TaxInclusiveAmount', totals.gross),
      ...adjustmentTotals(totals),
      amount !== totals.gross && money('cbc:PayableRoundingAmount', amount - totals.gross),
      money('cbc:PayableAmount', amount),
    ),
    ...lines.map((line, index) => documentLine(kind, line, index + 1, exemptionReason)),
  );
}

/**
 * Returns the customary closing sentence of a Moroccan invoice or credit note, always in French.
 * @param amount tax included
 */
export function amountNote(kind: Kind, amount: Centimes): string {
  return `${KINDS[kind].closing} ${amountInFrenchWords(amount)}.`;
}

function reasonNote({ reason, note }: Pick<Credit, 'reason' | 'note'>): string {
  const words = CREDIT_REASON_TEXTS[reason].fr;
  return `Motif de l’avoir : ${words}${isWritten(note) ? ` – ${note}` : ''}`;
}

/** Writes BG-3 of EN 16931: the number and the date of the invoice that is credited, replaced or deducted. */
function billingReference({ id, number, issueDate }: Original): Element {
  return group(
    'cac:BillingReference',
    group(
      'cac:InvoiceDocumentReference',
      text('cbc:ID', number),
      id !== null && text('cbc:UUID', uuidOf(id)),
      text('cbc:IssueDate', issueDate),
    ),
  );
}

/**
 * Returns the rates of the VAT breakdown: the rates of all lines (BR-S-01), also a rate whose whole base deposits
 * deduct.
 */
function statedRates({ totals, deduction }: LegalInvoice): RateTotal[] {
  const taken = deductedRates(deduction?.deposits ?? []).filter(
    ({ rate }) => !totals.rates.some((each) => each.rate === rate),
  );
  return [...totals.rates, ...taken.map(({ rate }) => ({ rate, base: 0, tax: 0 }))].sort((a, b) => b.rate - a.rate);
}

/** Returns the UUID of an id. */
function uuidOf(id: string): string {
  return id.slice(id.indexOf('_') + 1);
}

/** Returns the note that marks a document of the test environment; null for the live environment. */
function testNote({ environment, specimen }: LegalInvoice): [string] | null {
  if (specimen)
    return ['SPÉCIMEN : le vendeur est fictif, en tout ou en partie. Document de test, sans valeur légale ni fiscale.'];
  return environment === 'test' ? ['Document de test, sans valeur légale ni fiscale.'] : null;
}

const ENVELOPED_XADES = 'urn:oasis:names:specification:ubl:dsig:enveloped:xades';

function signatureId(root: string): string {
  return `urn:oasis:names:specification:ubl:signature:${root}`;
}

/**
 * Builds the first extension, which holds the signature. cac:Signature refers to it by its ID (OASIS UBL 2.1, section
 * 5).
 */
function signatureExtension(root: string): Element {
  return group(
    'ext:UBLExtensions',
    group(
      'ext:UBLExtension',
      text('ext:ExtensionURI', ENVELOPED_XADES),
      group(
        'ext:ExtensionContent',
        group(
          'sig:UBLDocumentSignatures',
          group(
            'sac:SignatureInformation',
            text('cbc:ID', 'urn:oasis:names:specification:ubl:signature:1'),
            text('sbc:ReferencedSignatureID', signatureId(root)),
            SIGNATURE_PLACE,
          ),
        ),
      ),
    ),
  );
}

/**
 * Writes the operation date as BT-72 of EN 16931, the date when goods were delivered or a service was completed. It is
 * not the tax point (BT-7): VAT on services may become due on payment.
 */
function delivery({ operationDate }: LegalTerms): Element | null {
  return operationDate === null ? null : group('cac:Delivery', text('cbc:ActualDeliveryDate', operationDate));
}

/** Writes BG-16 of EN 16931. The RIB has no schemeID, because the standard defines none for it. */
function paymentMeans({ paymentMode, paymentMeans: means, paymentReference, bankAccount }: LegalTerms): Element {
  return group(
    'cac:PaymentMeans',
    text('cbc:PaymentMeansCode', paymentMeansCode(means, bankAccount !== null), { name: paymentMode }),
    isWritten(paymentReference) && text('cbc:PaymentID', paymentReference),
    bankAccount !== null && group('cac:PayeeFinancialAccount', text('cbc:ID', bankAccount)),
  );
}

function documentLine(kind: Kind, line: LegalLine, id: number, exemptionReason: string | null): Element {
  const { ublRoot, ublQuantity } = KINDS[kind];
  const inUnit = { unitCode: unitCode(line.unit) };
  return group(
    `cac:${ublRoot}Line`,
    text('cbc:ID', String(id)),
    line.exemption != null && text('cbc:Note', exemptionNote(line.exemption)),
    text(`cbc:${ublQuantity}Quantity`, quantityText(line.quantity), inUnit),
    money('cbc:LineExtensionAmount', line.amount),
    lineDiscount(line),
    group(
      'cac:Item',
      text('cbc:Name', line.description),
      taxCategory('cac:ClassifiedTaxCategory', line.taxRate, exemptionReason),
    ),
    line.taxIncluded
      ? // A price without tax may have infinitely many decimals, so it is stated for the whole quantity.
        group(
          'cac:Price',
          money('cbc:PriceAmount', line.amount + netDiscountOf(line)),
          text('cbc:BaseQuantity', quantityText(line.quantity), inUnit),
        )
      : group('cac:Price', text('cbc:PriceAmount', unitPriceText(line.unitPrice), { currencyID: CURRENCY })),
  );
}

/** Writes BT-127 of EN 16931: the exemption of a line, which the VAT breakdown states, too, and the certificate. */
function exemptionNote({ code, certificate }: LineExemption): string {
  const reason = exemptionText(code, 'fr');
  return certificate ? `${reason} ; attestation n° ${certificate.number} du ${certificate.date}` : reason;
}
