import { createHash } from 'node:crypto';
import { folded } from '../invoice/search/fold.ts';

/**
 * Marks by which two invoices can be recognized as the same sale, independent of how their rows were read or written.
 */
export interface SaleMarks {
  /** Digests of customer, description, quantity and price of the first lines. */
  readonly lines: readonly string[];
  /** Numbers and dates, if stated, which distinguish sales of the same goods. */
  readonly facts: Readonly<Record<string, string>>;
}

/** Number of lines that are marked. */
const MARKED = 20;

type Parts = Readonly<Record<string, unknown>>;

/** @param input for `createInvoiceInput`; cells with problems are left out of it */
export function saleMarksOf(input: Parts): SaleMarks {
  const [customer, terms, references] = [partsOf(input.customer), partsOf(input.terms), partsOf(input.references)];
  const lines = Array.isArray(input.lines) ? input.lines.slice(0, MARKED).map(partsOf) : [];
  const who = folded(String(customer.ice ?? customer.name ?? ''));
  const facts = {
    number: input.number,
    order: references.order,
    contract: references.contract,
    operationDate: terms.operationDate,
    dueDate: terms.dueDate,
    from: partsOf(input.servicePeriod).from,
  };
  return {
    lines: [...new Set(lines.map((line) => markOf(who, line)))],
    facts: Object.fromEntries(
      Object.entries(facts).filter((fact): fact is [string, string] => typeof fact[1] === 'string'),
    ),
  };
}

/** Whether the two sales differ in no fact that both state. */
export function mayBeSame(one: SaleMarks['facts'], other: SaleMarks['facts']): boolean {
  return Object.entries(one).every(([name, fact]) => other[name] === undefined || other[name] === fact);
}

function markOf(who: string, { description, quantity, unitPrice }: Parts): string {
  const sold = JSON.stringify([who, folded(String(description ?? '')), quantity, unitPrice]);
  return createHash('sha256').update(sold).digest('base64url').slice(0, 22);
}

function partsOf(value: unknown): Parts {
  return typeof value === 'object' && value !== null ? (value as Parts) : {};
}
