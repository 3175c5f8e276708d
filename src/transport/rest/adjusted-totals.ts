import { z } from 'zod';

const STATED = 'amount percent tax_included: taxIncluded reason';

/** The GraphQL selection for the totals of an invoice. */
export const TOTALS_SELECTION = `included_totals: totals { subtotal tax_total: taxTotal tax_totals: taxTotals { rate base tax } total lines_total: linesTotal discount_total: discountTotal charge_total: chargeTotal deposits_total: depositsTotal } included_discount: discount { ${STATED} } included_charge: charge { ${STATED} }`;

const centimes = z.int().min(0);
const adjustment = z
  .strictObject({
    amount: centimes.nullable().meta({ description: 'In centimes, with tax if `tax_included`; null: a percentage.' }),
    percent: z
      .string()
      .nullable()
      .meta({ description: 'Of the sum of the lines.', examples: ['2.5'] }),
    tax_included: z.boolean(),
    reason: z.string().nullable(),
    total: centimes.meta({ description: 'Without tax, in centimes.' }),
  })
  .meta({ id: 'Adjustment' });

/**
 * The members that only the totals of an invoice with a discount, a charge or deposits have (docs/decisions/0086,
 * 0087).
 */
export const ADJUSTED_TOTALS = {
  lines_total: centimes.optional().meta({ description: 'Sum of the lines as they are stated, without tax.' }),
  discount: adjustment.optional(),
  charge: adjustment.optional(),
  deposits_total: centimes.optional().meta({ description: 'The deducted deposits, without tax, in centimes.' }),
};

interface Selected {
  readonly included_totals: Readonly<
    Record<'lines_total' | 'discount_total' | 'charge_total' | 'deposits_total', number>
  >;
  readonly included_discount: Stated | null;
  readonly included_charge: Stated | null;
}

interface Stated {
  readonly amount: number | null;
  readonly percent: number | null;
  readonly tax_included: boolean | null;
  readonly reason: string | null;
}

/** Returns the member `totals` of an answer. @param data what {@link TOTALS_SELECTION} selects */
export function totalsOf(data: Readonly<Record<string, unknown>>): object {
  const { included_totals, included_discount: discount, included_charge: charge } = data as unknown as Selected;
  const { lines_total, discount_total, charge_total, deposits_total, ...totals } = included_totals;
  if (discount === null && charge === null && deposits_total === 0) return totals;
  return {
    ...totals,
    lines_total,
    ...(discount && { discount: adjustmentOf(discount, discount_total) }),
    ...(charge && { charge: adjustmentOf(charge, charge_total) }),
    ...(deposits_total > 0 && { deposits_total }),
  };
}

function adjustmentOf({ amount, percent, tax_included, reason }: Stated, total: number): z.output<typeof adjustment> {
  return {
    amount,
    percent: percent === null ? null : String(percent),
    tax_included: tax_included === true,
    reason,
    total,
  };
}
