import { type Centimes, CURRENCY, decimalOf } from '../../domain/money.ts';
import type { Content, Element } from './canonical-xml.ts';

/** Prefixes of a UBL 2.1 document and its signature extension (OASIS UBL 2.1, sections 3 and 5). */
const PREFIXES = {
  cac: 'urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2',
  cbc: 'urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2',
  ext: 'urn:oasis:names:specification:ubl:schema:xsd:CommonExtensionComponents-2',
  sig: 'urn:oasis:names:specification:ubl:schema:xsd:CommonSignatureComponents-2',
  sac: 'urn:oasis:names:specification:ubl:schema:xsd:SignatureAggregateComponents-2',
  sbc: 'urn:oasis:names:specification:ubl:schema:xsd:SignatureBasicComponents-2',
} as const;

/** Returns the namespaces of a document with this root element, by their prefixes. */
export function namespacesOf(root: string): Readonly<Record<string, string>> {
  return { '': `urn:oasis:names:specification:ubl:schema:xsd:${root}-2`, ...PREFIXES };
}

/** A child to write; `null` and `false` mean that it is left out. */
type Optional = Content | null | false;

/** Returns an element with child elements. */
export function group(name: string, ...children: readonly Optional[]): Element {
  return { name, content: children.filter((child) => child !== null && child !== false) };
}

/** Returns a basic component: an element with text. */
export function text(name: string, content: string, attributes?: Readonly<Record<string, string>>): Element {
  return attributes === undefined ? { name, content } : { name, content, attributes };
}

/** Returns an amount of dirhams with two decimals (EN 16931 allows no more). */
export function money(name: string, centimes: Centimes): Element {
  return text(name, decimalOf(centimes), { currencyID: CURRENCY });
}
