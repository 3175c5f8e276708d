import type { AdjustmentTotal } from '../../domain/invoice/adjustments.ts';
import { netDiscountOf } from '../../domain/invoice/line-amounts.ts';
import type { LegalInvoice, LegalLine } from '../../domain/invoice/ports.ts';
import type { Element } from './canonical-xml.ts';
import { isWritten } from './parties.ts';
import { taxCategory } from './tax-category.ts';
import { group, money, text } from './vocabulary.ts';

/** The beginning of the reason of an allowance that deducts a deposit. */
export const DEPOSIT = 'Acompte facturé :';
const UNCL5189_DISCOUNT = '95';
/** The code for other services, used for every charge; the reason names the charge. */
const UNCL7161_OTHER_SERVICES = 'ADR';

/** Writes BG-27 of EN 16931: the discount of a line, without tax. */
export function lineDiscount(line: LegalLine): Element | null {
  if (line.discount == null) return null;
  const { percent, reason } = line.discount;
  const amount = netDiscountOf(line);
  return group(
    'cac:AllowanceCharge',
    ...why(false, reason),
    percent != null && text('cbc:MultiplierFactorNumeric', String(percent)),
    money('cbc:Amount', amount),
    percent != null && money('cbc:BaseAmount', line.amount + amount),
  );
}

/**
 * Writes BG-20 and BG-21 of EN 16931: the discount and the charge of the whole document, without tax, one element for
 * each rate that has a share, and the deducted amounts of each deposit. UNCL5189 has no code for a deposit.
 */
export function adjustments(
  { totals, deduction }: Pick<LegalInvoice, 'totals' | 'deduction'>,
  exemptionReason: string | null,
): Element[] {
  const written = (adjustment: AdjustmentTotal | null, isCharge: boolean) =>
    (adjustment?.rates ?? []).map(({ rate, net }) =>
      group(
        'cac:AllowanceCharge',
        ...why(isCharge, adjustment?.reason),
        money('cbc:Amount', net),
        taxCategory('cac:TaxCategory', rate, exemptionReason),
      ),
    );
  const deposits = (deduction?.deposits ?? []).flatMap(({ invoice, rates }) =>
    rates.map(({ rate, base }) =>
      group(
        'cac:AllowanceCharge',
        text('cbc:ChargeIndicator', 'false'),
        text('cbc:AllowanceChargeReason', `${DEPOSIT} ${invoice.number} du ${invoice.issueDate}`),
        money('cbc:Amount', base),
        taxCategory('cac:TaxCategory', rate, exemptionReason),
      ),
    ),
  );
  return [...written(totals.discount, false), ...written(totals.charge, true), ...deposits];
}

/** Writes BT-107 and BT-108 of EN 16931; nothing for a document without discount, charge and deposits. */
export function adjustmentTotals({ discount, charge, deposits }: LegalInvoice['totals']): Element[] {
  const isReduced = discount?.rates.length || deposits > 0;
  return [
    ...(isReduced ? [money('cbc:AllowanceTotalAmount', (discount?.net ?? 0) + deposits)] : []),
    ...(charge?.rates.length ? [money('cbc:ChargeTotalAmount', charge.net)] : []),
  ];
}

function why(isCharge: boolean, reason: string | null | undefined): Element[] {
  const [code, word] = isCharge ? [UNCL7161_OTHER_SERVICES, 'Frais'] : [UNCL5189_DISCOUNT, 'Remise'];
  return [
    text('cbc:ChargeIndicator', String(isCharge)),
    text('cbc:AllowanceChargeReasonCode', code),
    text('cbc:AllowanceChargeReason', isWritten(reason ?? null) ? `${reason}` : word),
  ];
}
