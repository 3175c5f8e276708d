import type { TypedInvoice } from './drawn-up.ts';

// Finds the field of an invoice's form that a finding is about.

/** The fields by the dotted paths of the API, without those of lines. */
const BY_PARAM = {
  number: 'number',
  'customer.ice': 'ice',
  'customer.name': 'name',
  'customer.email': 'email',
  'customer.address': 'address',
  'terms.operationDate': 'operationDate',
  'terms.dueDate': 'dueDate',
  'terms.paymentMeans': 'paymentMeans',
  'customer.country': 'country',
  'customer.taxNumber': 'taxNumber',
  discount: 'discount',
  'discount.amount': 'discount',
  'discount.percent': 'discount',
  'discount.reason': 'discountReason',
  charge: 'charge',
  'charge.amount': 'charge',
  'charge.percent': 'charge',
  'charge.reason': 'chargeReason',
  'references.order': 'order',
  'references.contract': 'contract',
  'servicePeriod.from': 'periodFrom',
  'servicePeriod.to': 'periodTo',
  'foreignValue.currency': 'foreignCurrency',
  'foreignValue.amount': 'foreignAmount',
  'foreignValue.rate': 'foreignRate',
  'foreignValue.rateDate': 'foreignDate',
  withholding: 'withheldPercent',
  'withholding.percent': 'withheldPercent',
  'withholding.certificate': 'regularityNumber',
  'withholding.certificate.number': 'regularityNumber',
  'withholding.certificate.date': 'regularityDate',
  deposits: 'deposits',
} as const;

const BUYER = 'AccountingCustomerParty/Party';
/** The fields by the elements of the XML, without namespace prefixes. */
const BY_ELEMENT = {
  ID: 'number',
  [`${BUYER}/PartyIdentification/ID`]: 'ice',
  [`${BUYER}/PartyLegalEntity/RegistrationName`]: 'name',
  [`${BUYER}/Contact/ElectronicMail`]: 'email',
  'OrderReference/ID': 'order',
  'ContractDocumentReference/ID': 'contract',
  'InvoicePeriod/StartDate': 'periodFrom',
  'InvoicePeriod/EndDate': 'periodTo',
  'PricingExchangeRate/SourceCurrencyCode': 'foreignCurrency',
  'PricingExchangeRate/CalculationRate': 'foreignRate',
  'PricingExchangeRate/Date': 'foreignDate',
} as const;
const BY_LINE_ELEMENT = {
  'Item/Name': 'description',
  InvoicedQuantity: 'quantity',
  'Price/PriceAmount': 'unitPrice',
  'AllowanceCharge/Amount': 'discount',
  'Item/ClassifiedTaxCategory/Percent': 'taxRate',
} as const;
/** The fields of a line that the API has at another path, by the rest of that path. */
const BY_LINE_PARAM = {
  'discount.amount': 'discount',
  'discount.percent': 'discount',
  'discount.reason': 'discount',
  'exemption.code': 'exemption',
  'exemption.certificate': 'certificateNumber',
  'exemption.certificate.number': 'certificateNumber',
  'exemption.certificate.date': 'certificateDate',
} as const;
const OF_LINES: readonly string[] = [...Object.values(BY_LINE_ELEMENT), 'unit', 'exemption'];

/** @returns the id of a field of line `index`, counted from 0 */
export function fieldOfLine(field: string, index: number): string {
  return `${field}-${index + 1}`;
}

/** Returns the id of the field that the API names: `lines.0.taxRate` → `taxRate-1`; null if the form has none. */
export function fieldOfParam(param: string | null): string | null {
  const [, index, path = ''] = param?.match(/^lines\.(\d{1,3})\.([\w.]+)$/) ?? [];
  if (index !== undefined) {
    const field = OF_LINES.includes(path) ? path : found(BY_LINE_PARAM, path);
    return field && fieldOfLine(field, Number(index));
  }
  return found(BY_PARAM, param?.replace(/^deposits\.\d{1,3}$/, 'deposits') ?? '');
}

/**
 * Returns the id of the field that an XPath in the invoice's XML names; null if the form has none. A path without a
 * position means the first line, as with a single line.
 */
export function fieldOfElement(path: string | null): string | null {
  const [, root, first = '', ...rest] = (path ?? '').split('/').map((step) => step.replace(/^[\w-]+:/, ''));
  if (root !== 'Invoice') return null;
  const line = first.match(/^InvoiceLine(?:\[([1-9]\d{0,3})\])?$/);
  if (!line) return found(BY_ELEMENT, [first, ...rest].join('/'));
  const field = found(BY_LINE_ELEMENT, rest.join('/'));
  return field && fieldOfLine(field, Number(line[1] ?? 1) - 1);
}

function found(table: Readonly<Record<string, string>>, key: string): string | null {
  return Object.hasOwn(table, key) ? (table[key] ?? null) : null;
}

/** Returns the text that is typed in a field. */
export function typedAt(typed: TypedInvoice, id: string): string {
  const [name = '', n] = id.split('-');
  const values = n === undefined ? { ...typed, ...typed.terms, ...typed.details } : typed.lines[Number(n) - 1];
  return String(values?.[name as keyof typeof values] ?? '');
}

/** Findings beside their fields, and the others. */
export interface Placed<Finding> {
  /** By the id of the field. */
  readonly beside: ReadonlyMap<string, readonly Finding[]>;
  readonly rest: readonly Finding[];
}

/**
 * Places findings beside their fields.
 * @param lines the number of lines of the form: a finding about another line has no field
 */
export function placed<Finding>(
  findings: readonly Finding[],
  fieldOf: (finding: Finding) => string | null,
  lines: number,
): Placed<Finding> {
  const beside = new Map<string, readonly Finding[]>();
  const rest: Finding[] = [];
  for (const finding of findings) {
    const field = fieldOf(finding);
    const [, n] = field?.match(/-(\d+)$/) ?? [];
    if (field === null || Number(n ?? 0) > lines) rest.push(finding);
    else beside.set(field, [...(beside.get(field) ?? []), finding]);
  }
  return { beside, rest };
}
