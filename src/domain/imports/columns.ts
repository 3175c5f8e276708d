/** The ways to read the cells of a column. */
export type ColumnKind =
  | 'text'
  /** Cells with the same text belong to the same invoice. */
  | 'key'
  /** A text of one line, such as a number of an order. */
  | 'line'
  /** The number of an invoice. */
  | 'number'
  | 'ice'
  /** Digits with spaces between them. */
  | 'digits'
  | 'quantity'
  /** In dirhams, with at most two decimals. */
  | 'money'
  /** In dirhams, with at most four decimals. */
  | 'price'
  | 'percent'
  | 'taxRate'
  | 'date'
  | 'unit'
  | 'country'
  | 'currency'
  | 'customerKind'
  | 'paymentMeans'
  | 'exemption'
  | 'flag'
  /** The kind or the state of the document in another program. */
  | 'sourceState'
  /** Not empty if another program has cancelled the document. */
  | 'sourceCancelled';

export interface ImportColumn {
  /** Dotted path of the field in `CreateInvoiceInput`. The path of a line's field begins with `line.`. */
  readonly field: string;
  /** `invoice`: the first row of the invoice has the field; the other rows repeat it or leave it empty. */
  readonly level: 'invoice' | 'line';
  readonly kind: ColumnKind;
  /** Whether a file must have the column. A file must also have one column of each list in `ONE_OF`. */
  readonly isRequired?: true;
  /** Whether the template omits the column, because only other programs write it, or few tenants need it. */
  readonly isRare?: true;
}

/**
 * The columns of a file, one row each, in the order of the template. Their texts are in `column-headers.ts`. A file may
 * have them in any order, among others. Some columns are no fields of the input: cells of `document` with the same text
 * belong to one invoice; the company and the two names of a person are parts of `customer.name`;
 * `line.unitPriceWithTax` is a `unitPrice` with `taxIncluded`; an amount `AsPriced` includes tax if the prices do;
 * `currency` must be the dirham; and the columns of `source` say whether the document is a valid invoice.
 */
export const IMPORT_COLUMNS = [
  { field: 'document', level: 'invoice', kind: 'key' },
  { field: 'number', level: 'invoice', kind: 'number' },
  { field: 'customer.name', level: 'invoice', kind: 'line' },
  { field: 'customer.company', level: 'invoice', kind: 'line', isRare: true },
  { field: 'customer.firstName', level: 'invoice', kind: 'line', isRare: true },
  { field: 'customer.lastName', level: 'invoice', kind: 'line', isRare: true },
  { field: 'customer.ice', level: 'invoice', kind: 'ice' },
  { field: 'customer.kind', level: 'invoice', kind: 'customerKind' },
  { field: 'customer.address', level: 'invoice', kind: 'text' },
  { field: 'customer.email', level: 'invoice', kind: 'line' },
  { field: 'customer.country', level: 'invoice', kind: 'country' },
  { field: 'customer.taxNumber', level: 'invoice', kind: 'line', isRare: true },
  { field: 'line.description', level: 'line', kind: 'text', isRequired: true },
  { field: 'line.quantity', level: 'line', kind: 'quantity' },
  { field: 'line.unit', level: 'line', kind: 'unit' },
  { field: 'line.unitPrice', level: 'line', kind: 'price' },
  { field: 'line.unitPriceWithTax', level: 'line', kind: 'price', isRare: true },
  { field: 'line.taxRate', level: 'line', kind: 'taxRate' },
  { field: 'line.discount.percent', level: 'line', kind: 'percent' },
  { field: 'line.discount.amount', level: 'line', kind: 'money', isRare: true },
  { field: 'line.exemption.code', level: 'line', kind: 'exemption' },
  { field: 'line.exemption.certificate.number', level: 'line', kind: 'line', isRare: true },
  { field: 'line.exemption.certificate.date', level: 'line', kind: 'date', isRare: true },
  { field: 'terms.operationDate', level: 'invoice', kind: 'date' },
  { field: 'terms.dueDate', level: 'invoice', kind: 'date' },
  { field: 'terms.paymentMeans', level: 'invoice', kind: 'paymentMeans' },
  { field: 'terms.paymentMode', level: 'invoice', kind: 'line', isRare: true },
  { field: 'terms.paymentReference', level: 'invoice', kind: 'line', isRare: true },
  { field: 'terms.bankAccount', level: 'invoice', kind: 'digits', isRare: true },
  { field: 'references.order', level: 'invoice', kind: 'line' },
  { field: 'references.contract', level: 'invoice', kind: 'line', isRare: true },
  { field: 'servicePeriod.from', level: 'invoice', kind: 'date', isRare: true },
  { field: 'servicePeriod.to', level: 'invoice', kind: 'date', isRare: true },
  { field: 'discount.percent', level: 'invoice', kind: 'percent', isRare: true },
  { field: 'discount.amount', level: 'invoice', kind: 'money', isRare: true },
  { field: 'discount.amountAsPriced', level: 'invoice', kind: 'money', isRare: true },
  { field: 'charge.amount', level: 'invoice', kind: 'money', isRare: true },
  { field: 'charge.amountAsPriced', level: 'invoice', kind: 'money', isRare: true },
  { field: 'withholding.percent', level: 'invoice', kind: 'percent', isRare: true },
  { field: 'isDeposit', level: 'invoice', kind: 'flag', isRare: true },
  { field: 'amount', level: 'invoice', kind: 'money' },
  { field: 'currency', level: 'invoice', kind: 'currency', isRare: true },
  { field: 'source.kind', level: 'invoice', kind: 'sourceState', isRare: true },
  { field: 'source.status', level: 'invoice', kind: 'sourceState', isRare: true },
  { field: 'source.payment', level: 'invoice', kind: 'sourceState', isRare: true },
  { field: 'source.cancelled', level: 'invoice', kind: 'sourceCancelled', isRare: true },
] as const satisfies readonly ImportColumn[];

/** The field of a column. */
export type ImportField = (typeof IMPORT_COLUMNS)[number]['field'];

const BY_FIELD: ReadonlyMap<string, ImportColumn> = new Map(IMPORT_COLUMNS.map((column) => [column.field, column]));

/** Returns the column of a field; null if the table has no such field. */
export function columnOf(field: string): ImportColumn | null {
  return BY_FIELD.get(field) ?? null;
}

/** The two columns that state a price. */
export const PRICES = ['line.unitPrice', 'line.unitPriceWithTax'] as const satisfies readonly ImportField[];

/** The columns of which each can name the customer. */
export const NAMES = [
  'customer.name',
  'customer.company',
  'customer.lastName',
] as const satisfies readonly ImportField[];

/** Lists of alternative fields: a file needs one field of each list. The usual field is first. */
export const ONE_OF: readonly (readonly [ImportField, ...ImportField[]])[] = [NAMES, PRICES];

/** Parts of the customer's name. */
const NAME_PARTS: ReadonlySet<string> = new Set(['customer.company', 'customer.firstName', 'customer.lastName']);

/** Whether a field is one of `CreateInvoiceInput`. */
export function isOfInput(field: string): boolean {
  return field !== 'document' && field !== 'currency' && !field.startsWith('source.') && !NAME_PARTS.has(field);
}
