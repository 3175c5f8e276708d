import { CURRENCY } from '../../../domain/money.ts';
import type { XmlElement } from './read-xml.ts';

export const UBL = 'urn:oasis:names:specification:ubl:schema:xsd:';
const CAC = `${UBL}CommonAggregateComponents-2`;
export const CBC = `${UBL}CommonBasicComponents-2`;

/** An element with its path from the root: `/Invoice/cac:InvoiceLine[2]/cbc:InvoicedQuantity`. */
export interface Located {
  readonly element: XmlElement;
  readonly path: string;
}

export class Fault extends Error {
  readonly code: string;
  readonly path: string;

  constructor(code: string, path: string, message: string) {
    super(message);
    this.code = code;
    this.path = path;
  }
}

export function must(condition: boolean, code: string, path: string, message: string): asserts condition {
  if (!condition) throw new Fault(code, path, message);
}

export function isCreditNote({ path }: Located): boolean {
  return path.startsWith('/CreditNote');
}

/** Returns the name of this element's document in messages. */
export function called(at: Located): string {
  return isCreditNote(at) ? 'L’avoir' : 'La facture';
}

const PREFIX: Readonly<Record<string, string>> = { [CAC]: 'cac', [CBC]: 'cbc' };

export function all({ element, path }: Located, name: string, uri = CAC): Located[] {
  const found = element.children.filter((each) => each.name === name && each.uri === uri);
  return found.map((each, index) => ({
    element: each,
    path: `${path}/${PREFIX[uri]}:${name}${found.length > 1 ? `[${index + 1}]` : ''}`,
  }));
}

export function one(parent: Located, name: string, uri = CAC): Located {
  const [found, ...others] = all(parent, name, uri);
  must(
    found !== undefined && others.length === 0,
    'element_missing',
    parent.path,
    `${parent.element.name} doit contenir exactement un élément ${name}`,
  );
  return found;
}

/** Returns the only child with this name. */
export function child(parent: Located, name: string): Located {
  return one(parent, name, CBC);
}

export function textOf({ element }: Located): string {
  return element.text.trim();
}

export function centimes(amount: Located): bigint {
  const { attributes, name } = amount.element;
  must(attributes.currencyID === CURRENCY, 'currency_invalid', amount.path, `${name} n’est pas en dirhams`);
  const match = /^(-?)(\d{1,20})(?:\.(\d{1,2}))?$/.exec(textOf(amount));
  must(match !== null, 'amount_invalid', amount.path, `${name} n’est pas un montant à deux décimales au plus`);
  const [, sign = '', whole = '', fraction = ''] = match;
  return BigInt(`${sign}${whole}${fraction.padEnd(2, '0')}`);
}

/** Whether a text is a calendar date, `YYYY-MM-DD`. */
export function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && new Date(`${text}T12:00Z`).getUTCDate() === Number(text.slice(8));
}
