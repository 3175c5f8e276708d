import { DEPOSIT } from './allowances.ts';
import type { ReadElement } from './read-canonical.ts';
import { expect, expectEqual, money, optional, text } from './rules.ts';

const NAME = 'cac:AllowanceCharge';

/** Returns the discount of a line in centimes; 0 if it has none. */
export function lineDiscountOf(line: ReadElement, listed: bigint, at: string): bigint {
  const discount = optional(line, NAME);
  if (discount === null) return 0n;
  expect(text(discount, 'cbc:ChargeIndicator') === 'false', `The discount of ${at} is a charge.`);
  const amount = money(discount, 'cbc:Amount');
  expect(amount >= 0n && amount <= listed, `The discount of ${at} is more than its price.`);
  if (optional(discount, 'cbc:BaseAmount'))
    expectEqual(`the price of ${at}`, money(discount, 'cbc:BaseAmount'), listed);
  return amount;
}

/**
 * Subtracts the discount of the whole document from the sums of the lines, and adds its charge.
 * @param bases the sums of the lines by category and rate, which become the bases of VAT
 * @param categoryOf reads category and rate as the key of `bases`
 * @returns the sums of the discount, deposits included, and of the charge, the keys of the bases that they change, and
 *   the keys of the bases that deposits change
 */
export function adjust(
  root: ReadElement,
  bases: Map<string, bigint>,
  categoryOf: (parent: ReadElement) => string,
): { discount: bigint; charge: bigint; changed: ReadonlySet<string>; deposits: ReadonlySet<string> } {
  const changed = new Set<string>();
  const deposits = new Set<string>();
  const known = new Set<string>();
  const sums = { true: 0n, false: 0n };
  for (const each of root.children.filter(({ name }) => name === NAME)) {
    const isCharge = text(each, 'cbc:ChargeIndicator');
    expect(isCharge === 'true' || isCharge === 'false', `${isCharge} does not say whether something is a charge.`);
    const amount = money(each, 'cbc:Amount');
    expect(amount > 0n, 'A discount or a charge is not above zero.');
    const category = categoryOf(each);
    const base = bases.get(category);
    expect(base !== undefined, `No line has the category ${category} % of a discount or a charge.`);
    const reason = text(each, 'cbc:AllowanceChargeReason');
    const isDeposit = optional(each, 'cbc:AllowanceChargeReasonCode') === null;
    if (isDeposit) {
      expect(isCharge === 'false' && reason.startsWith(DEPOSIT), `${reason} is not the deduction of a deposit.`);
      deposits.add(category);
    }
    const key = `${isCharge} ${category} ${isDeposit ? reason : ''}`;
    expect(!known.has(key), `The discount or the charge at ${category} % is stated twice.`);
    known.add(key);
    bases.set(category, base + (isCharge === 'true' ? amount : -amount));
    sums[isCharge] += amount;
    changed.add(category);
  }
  for (const [category, base] of bases) expect(base >= 0n, `The discount at ${category} % is more than its lines.`);
  return { discount: sums.false, charge: sums.true, changed, deposits };
}

/** Checks that a total equals a sum. A total that is not stated counts as 0. */
export function expectTotal(totals: ReadElement, name: string, what: string, sum: bigint): void {
  const stated = optional(totals, name) === null ? 0n : money(totals, name);
  expectEqual(what, stated, sum);
}
