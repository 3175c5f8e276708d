import { z } from 'zod';

/** The GraphQL selection for a line. */
export const EXACT_SELECTION =
  'description quantity unit unitPrice taxIncluded discount { amount percent reason } exemption { code certificate { number date } } amount';

/** A line as it is selected. */
export interface SelectedLine {
  readonly description: string;
  readonly quantity: number;
  readonly unit: string | null;
  readonly unitPrice: number;
  readonly taxIncluded: boolean | null;
  readonly discount: {
    readonly amount: number | null;
    readonly percent: number | null;
    readonly reason: string | null;
  } | null;
  readonly exemption: {
    readonly code: string;
    readonly certificate: { readonly number: string; readonly date: string } | null;
  } | null;
  readonly amount: number;
}

/** A line as the contract has it. */
export interface PlainLine {
  readonly description: string;
  readonly quantity: number;
  readonly unit_price: number;
  readonly amount: number;
}

const text = z.string().nullable();

/**
 * The values of a line that states more than whole pieces at a whole price without tax (docs/decisions/0081). Numbers
 * that may have decimals are strings.
 */
export const exactLine = z
  .strictObject({
    description: z.string(),
    quantity: z.string().meta({ examples: ['1.5'] }),
    unit: text.meta({ description: 'The code of UN/ECE Recommendation 20; null: pieces.' }),
    unit_price: z.string().meta({ description: 'In centimes, with tax if `tax_included`.', examples: ['40000'] }),
    tax_included: z.boolean(),
    discount_amount: z.int().nullable().meta({ description: 'In centimes, with tax if `tax_included`.' }),
    discount_percent: text,
    discount_reason: text,
    exemption_code: z.string().optional().meta({ description: 'Why a line at 0 % has no VAT, if it says so itself.' }),
    certificate_number: text.optional().meta({ description: 'Of the buyer, with `exemption_code`.' }),
    certificate_date: text.optional().meta({ description: 'With `exemption_code`.' }),
    amount: z.int().min(0).optional().meta({
      description:
        'Without tax, in centimes, before the discount, the charge and the deposits of the whole document; absent if they do not change it.',
    }),
  })
  .meta({ id: 'ExactLine' });

/** Adds the exact values to each line of an answer, except to a line that already states everything. */
export function withExact(lines: readonly PlainLine[], selected: readonly SelectedLine[]): object[] {
  return lines.map((line, index) => {
    const stated = selected[index];
    if (stated === undefined || saysAll(line, stated)) return line;
    const { amount } = stated;
    return { ...line, exact: { ...exactOf(stated), ...(amount !== line.amount && { amount }) } };
  });
}

/** Whether the contract's line states everything. If it does not, its description contains the rest. */
function saysAll(line: PlainLine, { description, quantity, unitPrice, exemption }: SelectedLine): boolean {
  // If the amount differs, the description differs, too.
  return (
    exemption === null &&
    line.description === description &&
    line.quantity === quantity &&
    line.unit_price === unitPrice
  );
}

function exactOf(line: SelectedLine): z.output<typeof exactLine> {
  const { description, quantity, unit, unitPrice, taxIncluded, discount, exemption } = line;
  return {
    description,
    quantity: String(quantity),
    unit,
    unit_price: String(unitPrice),
    tax_included: taxIncluded === true,
    discount_amount: discount?.amount ?? null,
    discount_percent: discount?.percent == null ? null : String(discount.percent),
    discount_reason: discount?.reason ?? null,
    ...(exemption && {
      exemption_code: exemption.code,
      certificate_number: exemption.certificate?.number ?? null,
      certificate_date: exemption.certificate?.date ?? null,
    }),
  };
}
