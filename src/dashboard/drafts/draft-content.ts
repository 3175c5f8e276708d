import { drawnUp, type TypedInvoice, type TypedLine, UNREADABLE } from '../creation/drawn-up.ts';
import { plainAmount } from '../text/money.ts';

export type DraftContent = Readonly<Record<string, unknown>>;

/**
 * Converts the form to the content of a draft. A figure that cannot be read stays as it was typed, so that the service
 * names it and the form shows it again.
 * @param before the content that the form was opened with: members that the form does not show are kept
 */
export function contentOf(typed: TypedInvoice, before: DraftContent): DraftContent {
  const { amount, currency, customer, lines, number } = drawnUp(typed);
  const { email: _email, ...others } = recordOf(before.customer);
  const { number: earlier, ...kept } = before;
  const own = typed.number === undefined ? earlier : number;
  return {
    ...kept,
    ...(own !== undefined && { number: own }),
    amount,
    currency,
    customer: { ...others, ...customer },
    lines: lines.map((line, i) => {
      const { description, ...figures } = typed.lines[i] as TypedLine;
      const read = Object.entries(figures).map(([name, text]) => {
        const figure = line[name as keyof typeof figures];
        return [name, figure === UNREADABLE ? text : figure];
      });
      return { description, ...Object.fromEntries(read) };
    }),
  };
}

/** Returns what the form shows of the content of a draft, which may be anything. */
export function typedOf(content: DraftContent, newLine: TypedLine): TypedInvoice {
  const customer = recordOf(content.customer);
  const lines = Array.isArray(content.lines) ? content.lines.map(recordOf) : [];
  return {
    ice: textOf(customer.ice),
    name: textOf(customer.name),
    email: textOf(customer.email),
    number: textOf(content.number),
    lines:
      lines.length === 0
        ? [newLine]
        : lines.map(({ description, quantity, unitPrice, taxRate }) => ({
            description: textOf(description),
            quantity: textOf(quantity),
            unitPrice: Number.isSafeInteger(unitPrice) ? plainAmount(unitPrice as number) : textOf(unitPrice),
            taxRate: textOf(taxRate),
          })),
  };
}

/** Returns the name of the customer of a draft; empty if it has none. */
export function customerOf(content: DraftContent): string {
  return textOf(recordOf(content.customer).name);
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
