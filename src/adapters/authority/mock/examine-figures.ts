import { LIMITS } from '../../../domain/invoice/field-input.ts';
import { parseTaxRate } from '../../../domain/invoice/tax-rate.ts';
import { CURRENCY, decimalOf, divideHalfUp } from '../../../domain/money.ts';
import { all, CBC, called, centimes, child, isCreditNote, type Located, must, one, textOf } from './located.ts';

/**
 * Recomputes the figures of a document from its lines.
 * @throws {Fault} about the first one that is wrong
 */
export function examineFigures(root: Located): void {
  const { bases, containing } = basesOf(root);
  const net = sumOf([...bases.values()]);
  const adjusted = adjust(root, bases);
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
    const tolerance =
      isCreditNote(root) || adjusted.deposits.has(rate)
        ? LESS_THAN_A_DIRHAM
        : containing.has(rate) || adjusted.rates.has(rate)
          ? 1n
          : 0n;
    if (!isNear(centimes(stated), due, tolerance)) mustEqual(`la TVA à ${rate} %`, stated, due);
    tax += centimes(stated);
  }
  examineExemptions(root, subtotals);
  mustEqual('la TVA', child(taxTotal, 'TaxAmount'), tax);
  examineTotals(root, { net, tax, ...adjusted });
}

/** Checks that the exemption that a line states is one of the reasons for which the document has no VAT. */
function examineExemptions(root: Located, subtotals: readonly Located[]): void {
  const categories = subtotals.map((subtotal) => one(subtotal, 'TaxCategory'));
  const reasons = categories.flatMap((category) => all(category, 'TaxExemptionReason', CBC).flatMap(reasonsIn));
  linesOf(root).forEach((line, index) => {
    for (const note of all(line, 'Note', CBC)) {
      const category = textOf(child(one(one(line, 'Item'), 'ClassifiedTaxCategory'), 'ID'));
      must(
        category === 'E' && reasons.includes(reasonsIn(note)[0] ?? ''),
        'exemption_unfit',
        note.path,
        `L’exonération de la ligne ${index + 1} ne figure pas dans le détail de la TVA`,
      );
    }
  });
}

function reasonsIn(stated: Located): string[] {
  return textOf(stated).split(' ; ');
}

/**
 * Maximum difference between the stated and the computed VAT, centimes (EN 16931, BR-S-09), of a credit note, and of a
 * rate with deposits. The credit notes of an invoice add up to its VAT, so each may differ by rounding.
 */
const LESS_THAN_A_DIRHAM = 99n;

function isNear(stated: bigint, computed: bigint, tolerance: bigint): boolean {
  return stated - computed <= tolerance && computed - stated <= tolerance;
}

/**
 * Checks each line.
 * @returns the sum of the lines by VAT rate, in centimes, and the rates of lines whose price is for the whole quantity:
 *   such a price included VAT, and the VAT in a price is rounded with the price
 */
function basesOf(root: Located): { bases: Map<string, bigint>; containing: Set<string> } {
  const lines = linesOf(root);
  must(lines.length > 0, 'lines_missing', root.path, `${called(root)} n’a pas de lignes`);
  const bases = new Map<string, bigint>();
  const containing = new Set<string>();
  lines.forEach((line, index) => {
    const { listed, isWhole } = listPriceOf(root, line, index);
    const amount = listed - discountOf(line, listed, index);
    mustEqual(`la ligne ${index + 1}`, child(line, 'LineExtensionAmount'), amount);
    const rate = textOf(child(one(one(line, 'Item'), 'ClassifiedTaxCategory'), 'Percent'));
    bases.set(rate, (bases.get(rate) ?? 0n) + amount);
    if (isWhole) containing.add(rate);
  });
  return { bases, containing };
}

/** Returns the quantity of a line times its price, in centimes, and whether the price is for the whole quantity. */
function listPriceOf(root: Located, line: Located, index: number): { listed: bigint; isWhole: boolean } {
  const quantity = child(line, isCreditNote(root) ? 'CreditedQuantity' : 'InvoicedQuantity');
  must(
    /^\d{1,16}(\.\d{1,3})?$/.test(textOf(quantity)),
    'quantity_invalid',
    quantity.path,
    `La quantité de la ligne ${index + 1} n’est pas un nombre à trois décimales au plus`,
  );
  const price = one(line, 'Price');
  const amount = child(price, 'PriceAmount');
  const [base] = all(price, 'BaseQuantity', CBC);
  const product = scaled(quantity, 3) * priceOf(amount);
  if (base === undefined) return { listed: divideHalfUp(product, 10n ** 5n), isWhole: false };
  must(
    textOf(base) === textOf(quantity),
    'quantity_invalid',
    base.path,
    `Le prix de la ligne ${index + 1} n’est pas celui de sa quantité`,
  );
  return { listed: centimes(amount), isWhole: true };
}

/** Returns a price in hundredths of a centime. */
function priceOf(amount: Located): bigint {
  if (!/\.\d{3,4}$/.test(textOf(amount))) return centimes(amount) * 100n;
  const { element, path } = amount;
  must(element.attributes.currencyID === CURRENCY, 'currency_invalid', path, 'Un prix n’est pas en dirhams');
  must(/^\d{1,20}\.\d+$/.test(textOf(amount)), 'amount_invalid', path, 'Un prix n’est pas un nombre');
  return scaled(amount, 4);
}

/** Returns a decimal number times 10 to the power of `places`. */
function scaled(number: Located, places: number): bigint {
  const [whole = '', fraction = ''] = textOf(number).split('.');
  return BigInt(whole + fraction.padEnd(places, '0'));
}

/** Returns the discount of a line in centimes; 0 if it has none. */
function discountOf(line: Located, listed: bigint, index: number): bigint {
  const [discount] = all(line, 'AllowanceCharge');
  if (discount === undefined) return 0n;
  const stated = child(discount, 'Amount');
  const amount = centimes(stated);
  must(
    textOf(child(discount, 'ChargeIndicator')) === 'false' && amount >= 0n && amount <= listed,
    'discount_invalid',
    stated.path,
    `La remise de la ligne ${index + 1} dépasse son prix`,
  );
  return amount;
}

function linesOf(root: Located): Located[] {
  return all(root, `${root.element.name}Line`);
}

/**
 * Subtracts the discounts of the whole document from the sums of the lines by rate, and adds its charges.
 * @returns the sums of the discounts, deposits included, and of the charges; `rates` that have any of them, because
 *   amounts that include tax are rounded with it; `deposits`: the rates at which deposits are deducted
 */
function adjust(
  root: Located,
  bases: Map<string, bigint>,
): { discount: bigint; charge: bigint; rates: Set<string>; deposits: Set<string> } {
  const rates = new Set<string>();
  const deposits = new Set<string>();
  const references = all(root, 'BillingReference').map((each) =>
    textOf(child(one(each, 'InvoiceDocumentReference'), 'ID')),
  );
  let [discount, charge] = [0n, 0n];
  for (const each of all(root, 'AllowanceCharge')) {
    const stated = child(each, 'Amount');
    const rate = textOf(child(one(each, 'TaxCategory'), 'Percent'));
    const isCharge = textOf(child(each, 'ChargeIndicator')) === 'true';
    const base = bases.get(rate);
    must(
      base !== undefined,
      'discount_invalid',
      each.path,
      `Aucune ligne n’a le taux ${rate} % de la remise ou des frais`,
    );
    const amount = centimes(stated);
    const left = isCharge ? base + amount : base - amount;
    must(
      amount > 0n && left >= 0n,
      'discount_invalid',
      stated.path,
      `La remise ou les frais à ${rate} % sont nuls, négatifs ou dépassent les lignes`,
    );
    bases.set(rate, left);
    rates.add(rate);
    if (all(each, 'AllowanceChargeReasonCode', CBC).length === 0) {
      const reason = textOf(child(each, 'AllowanceChargeReason'));
      must(
        !isCharge && references.some((number) => reason.startsWith(`Acompte facturé : ${number} du `)),
        'deposit_unknown',
        each.path,
        `L’acompte déduit à ${rate} % n’est celui d’aucune facture que le document cite`,
      );
      deposits.add(rate);
    }
    if (isCharge) charge += amount;
    else discount += amount;
  }
  return { discount, charge, rates, deposits };
}

function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, amount) => sum + amount, 0n);
}

function examineTotals(
  root: Located,
  { net, discount, charge, tax }: Readonly<Record<'net' | 'discount' | 'charge' | 'tax', bigint>>,
): void {
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
  mustEqualIfStated('la remise', totals, 'AllowanceTotalAmount', discount);
  mustEqualIfStated('les frais', totals, 'ChargeTotalAmount', charge);
  const due = net - discount + charge;
  mustEqual('le total hors taxes', child(totals, 'TaxExclusiveAmount'), due);
  mustEqual('le total TTC', child(totals, 'TaxInclusiveAmount'), due + tax);
  mustEqual('le net à payer', child(totals, 'PayableAmount'), due + tax + rounding);
}

/** Checks an amount. An amount that is not stated counts as 0. */
function mustEqualIfStated(what: string, totals: Located, name: string, expected: bigint): void {
  const [stated] = all(totals, name, CBC);
  if (stated !== undefined || expected !== 0n) mustEqual(what, stated ?? child(totals, name), expected);
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
