import { COMPANY } from '../invoice/customer-kind.ts';
import { PAYMENT_MEANS } from '../payment-means.ts';
import { isOfInput } from './columns.ts';
import type { ShownCell } from './reading.ts';
import type { RowFault } from './row-rules.ts';

/** A fault of several cells of an invoice together. */
interface Fault {
  /** Dotted path of the field whose cell the fault is reported at. */
  readonly param: string;
  readonly fault: RowFault;
  readonly facts: Readonly<Record<string, string | number>>;
}

/** Cells that show that a customer is a company or abroad. A cell of the country does not: it may be Morocco. */
const SAYS_KIND = ['customer.kind', 'customer.ice', 'customer.taxNumber', 'customer.company'] as const;

type Values = ReadonlyMap<string, unknown>;
type Tree = { [name: string]: unknown };

/** Pairs of columns that exclude each other on a line or an invoice. */
const EXCLUSIVE = [
  ['line.unitPrice', 'line.unitPriceWithTax'],
  ['line.discount.percent', 'line.discount.amount'],
  ['discount.percent', 'discount.amount'],
  ['discount.percent', 'discount.amountAsPriced'],
  ['discount.amount', 'discount.amountAsPriced'],
  ['charge.amount', 'charge.amountAsPriced'],
] as const;

/**
 * Makes the input of an invoice from the values of its cells, by the dotted paths of their fields, and adds the derived
 * fields: whether amounts include tax, the customer's name and kind, the means of payment. Renames the paths in
 * `origins` in the same way.
 * @param privateCustomers whether a customer without any sign of its kind is a private person
 */
export function withConsequences(
  values: Values,
  lines: readonly Values[],
  origins: Record<string, ShownCell>,
  privateCustomers: boolean,
): { readonly input: Readonly<Record<string, unknown>>; readonly faults: readonly Fault[] } {
  const faults: Fault[] = [];
  const input: Tree = {};
  const stated = new Map(values);
  if (stated.get('source.kind') === 'deposit' && stated.get('isDeposit') === undefined) stated.set('isDeposit', true);
  for (const field of values.keys()) if (!isOfInput(field)) stated.delete(field);
  const name = nameOf(values, origins);
  if (name) stated.set('customer.name', name);
  faults.push(...excluded(stated, (field) => field, origins));
  const means = stated.get('terms.paymentMeans');
  if (typeof means === 'string' && !Object.hasOwn(PAYMENT_MEANS, means)) {
    stated.delete('terms.paymentMeans');
    if (!stated.has('terms.paymentMode')) {
      stated.set('terms.paymentMode', means);
      moveOrigin(origins, 'terms.paymentMeans', 'terms.paymentMode');
    }
  }
  if (stated.get('customer.country') !== undefined && stated.get('customer.kind') === undefined)
    stated.set('customer.kind', 'foreign');
  const isSaid = SAYS_KIND.some((field) => origins[field] !== undefined) || stated.get('customer.kind') !== undefined;
  if (privateCustomers && !isSaid) stated.set('customer.kind', 'person');
  if (stated.get('customer.kind') === COMPANY.kind) stated.delete('customer.kind');
  const areWithTax = lines.length > 0 && lines.every((line) => line.get('line.unitPriceWithTax') !== undefined);
  for (const whole of ['discount', 'charge'] as const) {
    const amount = values.get(`${whole}.amountAsPriced`);
    stated.delete(`${whole}.amountAsPriced`);
    // Shops write 0.00 if there is no discount or charge.
    if (!amount || stated.has(`${whole}.amount`)) continue;
    stated.set(`${whole}.amount`, amount);
    if (areWithTax) stated.set(`${whole}.taxIncluded`, true);
    moveOrigin(origins, `${whole}.amountAsPriced`, `${whole}.amount`);
  }
  for (const [field, value] of stated) put(input, field, value);
  input.lines = lines.map((line, nth) => {
    const path = (field: string) => `lines.${nth}.${field.slice('line.'.length)}`;
    faults.push(...excluded(line, path, origins));
    const tree: Tree = {};
    for (const [field, value] of line) {
      if (field !== 'line.unitPriceWithTax') put(tree, field.slice('line.'.length), value);
    }
    const withTax = line.get('line.unitPriceWithTax');
    if (withTax !== undefined && line.get('line.unitPrice') === undefined) {
      Object.assign(tree, { unitPrice: withTax, taxIncluded: true });
      moveOrigin(origins, path('line.unitPriceWithTax'), path('line.unitPrice'));
    }
    if (!line.has('line.quantity') && origins[path('line.quantity')] === undefined) tree.quantity = 1;
    return tree;
  });
  return { input, faults };
}

function excluded(values: Values, pathOf: (field: string) => string, origins: Record<string, ShownCell>): Fault[] {
  return EXCLUSIVE.flatMap(([one, other]) => {
    if (values.get(one) === undefined || values.get(other) === undefined) return [];
    const header = origins[pathOf(one)]?.header ?? '';
    return [{ param: pathOf(other), fault: 'excludes', facts: { other: header } } as const];
  });
}

/**
 * Returns the name of the customer: the company, else the column of the name, else the names of the person; null
 * without any. Sets `customer.name` in `origins` to the cell of that name.
 */
function nameOf(values: Values, origins: Record<string, ShownCell>): string | null {
  const text = (field: string) => (values.get(field) as string | undefined) ?? null;
  const company = text('customer.company');
  if (company !== null) {
    moveOrigin(origins, 'customer.company', 'customer.name');
    return company;
  }
  if (text('customer.name') !== null || text('customer.lastName') === null) return text('customer.name');
  moveOrigin(origins, 'customer.lastName', 'customer.name');
  return [text('customer.firstName'), text('customer.lastName')].filter((part) => part !== null).join(' ');
}

function moveOrigin(origins: Record<string, ShownCell>, from: string, to: string): void {
  const origin = origins[from];
  if (origin) origins[to] = origin;
}

/** Puts a value at a dotted path. Omits undefined. */
function put(tree: Tree, path: string, value: unknown): void {
  if (value === undefined) return;
  const names = path.split('.');
  const last = names.pop() ?? '';
  let at = tree;
  for (const name of names) {
    at[name] ??= {};
    at = at[name] as Tree;
  }
  at[last] = value;
}
