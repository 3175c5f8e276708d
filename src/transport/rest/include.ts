import { z } from 'zod';
import { expected } from '../../domain/input-problems.ts';
import { CUSTOMER_KIND_NAMES } from '../../domain/invoice/customer-kind.ts';
import { answeredFields, EXTENSION } from '../../domain/invoice/field-table.ts';
import { INVOICE_WARNINGS } from '../../domain/invoice/invoice-warnings.ts';
import { invoiceStatus } from '../../domain/invoice/list-invoices-input.ts';
import { INVOICE_TERMS } from '../../domain/invoice/terms-fields.ts';
import { type PreparedOperation, prepare } from '../../graphql/execute.ts';
import { ADJUSTED_TOTALS, TOTALS_SELECTION, totalsOf } from './adjusted-totals.ts';
import { EXACT_SELECTION, exactLine, type PlainLine, type SelectedLine, withExact } from './exact-lines.ts';

interface Member {
  readonly description: string;
  /** The GraphQL selection of the invoice, under the alias `included_<name>` and the names of REST. */
  readonly selection: string;
  /** Null if the member only adds to a member of the contract. */
  readonly schema: z.ZodType | null;
}

const centimes = z.int().min(0);
const text = z.string().nullable();
const TERMS = answeredFields(INVOICE_TERMS);

/**
 * The members of an invoice that an answer has only if `include` names them, in the order in which they follow the
 * members of the contract (docs/api/contract.md, "Further members of an invoice").
 */
const MEMBERS = {
  number: {
    description: 'Legal number; null until it is assigned.',
    selection: 'included_number: number',
    schema: text,
  },
  totals: {
    description:
      'The totals, in centimes, with the VAT of each rate; of an invoice with a discount or a charge on the whole also the sum of the lines, the discount and the charge.',
    selection: TOTALS_SELECTION,
    schema: z
      .strictObject({
        subtotal: centimes,
        tax_total: centimes,
        tax_totals: z.array(
          z.strictObject({ rate: z.int().min(0), base: centimes, tax: centimes }).meta({ id: 'TaxTotal' }),
        ),
        total: centimes,
        ...ADJUSTED_TOTALS,
      })
      .meta({ id: 'InvoiceTotals' }),
  },
  terms: {
    description: 'Dates and payment as the documents state them.',
    selection: `included_terms: terms { ${TERMS.map(({ rest, name }) => `${rest}: ${name}`).join(' ')} }`,
    schema: z
      .strictObject(Object.fromEntries(TERMS.map(({ rest }) => [rest, text])))
      .meta({ id: INVOICE_TERMS.restName }),
  },
  warnings: {
    description: 'What the law or the tax authority may object to. Empty without a secret key.',
    selection: 'included_warnings: warnings { code path message }',
    schema: z.array(
      z
        .strictObject({
          code: z.string().meta({ 'x-extensible-enum': Object.keys(INVOICE_WARNINGS) }),
          path: z.string(),
          message: z.string(),
        })
        .meta({ id: 'InvoiceWarning' }),
    ),
  },
  credits: {
    description:
      'The sum of its credit notes that are not rejected, the 20 newest of them (more are in GraphQL), the ids of the invoice that it replaces and of the one that replaces it. Without a secret key only the one that it replaces.',
    selection:
      'included_credits: creditedAmount included_notes: creditNotes(first: 20) { nodes { id number status amount } } included_replaces: replaces { id } included_replaced_by: replacedBy { id }',
    schema: z
      .strictObject({
        credited_amount: centimes.nullable(),
        credit_notes: z.array(
          z
            .strictObject({ id: z.string(), number: text, status: invoiceStatus, amount: centimes })
            .meta({ id: 'CreditNoteSummary' }),
        ),
        replaces: text,
        replaced_by: text,
      })
      .meta({ id: 'InvoiceCredits' }),
  },
  customer: {
    description: 'The customer also has its kind, and its country and tax number if it is abroad.',
    selection: 'included_customer: customer { kind country tax_number: taxNumber }',
    schema: null,
  },
  lines: {
    description: 'A line that whole numbers cannot show also has `exact`.',
    selection: `included_lines: lines { ${EXACT_SELECTION} }`,
    schema: null,
  },
} as const satisfies Readonly<Record<string, Member>>;

export type IncludedName = keyof typeof MEMBERS;

const NAMES = Object.keys(MEMBERS) as IncludedName[];
/** Maximum length of the parameter, in characters: all names. */
const LONGEST = NAMES.join(',').length;
const LISTED = `a list of ${NAMES.join(', ')}, separated by commas, each at most once`;

/** The schemas of these members in answers. */
export const INCLUDED_MEMBERS = Object.fromEntries(
  NAMES.flatMap((name) => {
    const { schema, description } = MEMBERS[name];
    return schema === null ? [] : [[name, inclusion(name, schema, description)]];
  }),
);

/** The schemas of the members that `include=customer` adds to the customer. */
export const INCLUDED_OF_CUSTOMER = {
  kind: inclusion('customer', z.string().meta({ 'x-extensible-enum': CUSTOMER_KIND_NAMES }), 'what the customer is.'),
  country: inclusion('customer', text, 'the country of a customer abroad, ISO 3166-1 alpha-2; null: Morocco.'),
  tax_number: inclusion('customer', text, 'the tax number of a customer abroad.'),
};

/** The schemas of the members that `include=lines` adds to each line. */
export const INCLUDED_OF_LINE = { exact: inclusion('lines', exactLine, MEMBERS.lines.description) };

function inclusion(name: IncludedName, schema: z.ZodType, description: string): z.ZodType {
  return schema.optional().meta({ [EXTENSION]: true, description: `With \`include=${name}\`: ${description}` });
}

/** The query parameter `include`. Its output has the names in the order of the answer. */
export const includeParameter = z
  .string({ error: 'must be given once' })
  .max(LONGEST, { error: expected(LISTED) })
  .refine(isList, { error: expected(LISTED) })
  .transform((list) => NAMES.filter((name) => list.split(',').includes(name)))
  .optional()
  .meta({ [EXTENSION]: true, type: 'string', description: `Members to add to each invoice: ${LISTED}.` });

function isList(list: string): boolean {
  if (list.length > LONGEST) return false;
  const names = list.split(',');
  return new Set(names).size === names.length && names.every((name) => Object.hasOwn(MEMBERS, name));
}

/**
 * Makes the operations of a route, one for each combination of included members, each prepared when it is first needed.
 * @param sourceOf returns the document with this additional selection of the invoice
 * @returns a function that returns the operation for the names of `include`
 */
export function including<Data>(
  sourceOf: (selection: string) => string,
): (names: readonly IncludedName[] | undefined) => PreparedOperation<Data> {
  // At most one for each subset of the names. The first is prepared at start, which shows that the document is valid.
  const prepared = new Map([['', prepare<Data>(sourceOf(''))]]);
  return (names = []) => {
    const key = names.join(',');
    const known = prepared.get(key);
    if (known) return known;
    const operation = prepare<Data>(sourceOf(names.map((name) => MEMBERS[name].selection).join(' ')));
    prepared.set(key, operation);
    return operation;
  };
}

/** Splits an invoice's data into the fields of the contract and the included members under their names. */
export function splitIncluded(data: Readonly<Record<string, unknown>>, names: readonly IncludedName[] = []) {
  if (names.length === 0) return { fields: data, included: {} };
  const fields = Object.fromEntries(Object.entries(data).filter(([name]) => !name.startsWith('included_')));
  return { fields, included: Object.fromEntries(names.map((name) => [name, memberOf(data, name)])) };
}

function memberOf(data: Readonly<Record<string, unknown>>, name: IncludedName): unknown {
  const value = data[`included_${name}`];
  if (name === 'customer') return { ...(data.customer as object), ...(value as object) };
  if (name === 'lines') return withExact(data.lines as PlainLine[], value as SelectedLine[]);
  if (name === 'totals') return totalsOf(data);
  if (name !== 'credits') return value;
  const { nodes } = data.included_notes as { readonly nodes: unknown };
  return {
    credited_amount: value,
    credit_notes: nodes,
    replaces: idOf(data.included_replaces),
    replaced_by: idOf(data.included_replaced_by),
  };
}

function idOf(invoice: unknown): string | null {
  return (invoice as { readonly id: string } | null)?.id ?? null;
}
