import { InvalidDocument } from '../../domain/invoice/ports.ts';

/** An element to be written; its prefix names a namespace of the table that {@link writeCanonical} is given. */
export interface Element {
  readonly name: string;
  /** Unprefixed attributes. */
  readonly attributes?: Readonly<Record<string, string>>;
  /** Child elements or text, never both, and never nothing. */
  readonly content: readonly Content[] | string;
}

/** Stands among an element's children where the signature will be put. */
export const SIGNATURE_PLACE = Symbol('signature place');
export type Content = Element | typeof SIGNATURE_PLACE;

export interface CanonicalXml {
  readonly xml: string;
  /** Offset of {@link SIGNATURE_PLACE} in `xml`, UTF-16 units; -1 when there was none. */
  readonly signatureAt: number;
}

/**
 * Writes a document in the form that Exclusive XML Canonicalization 1.0 (without comments) gives it, so that its bytes can be digested
 * as they are: each namespace is declared where it is first used and nowhere else, attributes are sorted, no element is self-closing,
 * and characters are escaped as Canonical XML section 2.3 says. There is no XML declaration and no white space between elements.
 * @param namespaces URI of each prefix; `''` is the default namespace
 * @throws {InvalidDocument} on an empty element or text that XML 1.0 cannot carry
 */
export function writeCanonical(root: Element, namespaces: Readonly<Record<string, string>>): CanonicalXml {
  let xml = '';
  let signatureAt = -1;

  const write = ({ name, attributes, content }: Element, inherited: readonly string[]): void => {
    const colon = name.indexOf(':');
    const prefix = colon < 0 ? '' : name.slice(0, colon);
    let scope = inherited;
    xml += `<${name}`;
    if (!inherited.includes(prefix)) {
      const uri = namespaces[prefix];
      if (uri === undefined) throw new InvalidDocument(`The prefix of ${name} is bound to no namespace.`);
      xml += `${prefix === '' ? ' xmlns' : ` xmlns:${prefix}`}="${uri}"`;
      scope = [...inherited, prefix];
    }
    if (attributes !== undefined) {
      for (const key of Object.keys(attributes).sort())
        xml += ` ${key}="${escapeAttribute(attributes[key] ?? '', name)}"`;
    }
    xml += '>';
    if (typeof content === 'string') {
      xml += escapeText(content, name);
    } else {
      if (content.length === 0) throw new InvalidDocument(`${name} would be empty.`);
      for (const child of content) {
        if (child === SIGNATURE_PLACE) signatureAt = xml.length;
        else write(child, scope);
      }
    }
    xml += `</${name}>`;
  };

  write(root, []);
  return { xml, signatureAt };
}

/**
 * Every way to end a line becomes LF. XML parsers do so with CR; U+0085 and U+2028 are line ends to XML 1.1 and to xmldom, which would
 * make of the signed text another one than was signed.
 */
const LINE_END = /\r[\n\u0085]?|[\u0085\u2028]/g;
/** What the production Char of XML 1.0 leaves out, lone surrogates included. */
const NOT_A_CHARACTER = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;

/** Text that is written as it is; most is. */
const PLAIN = /^[!#-%'-;=?-~][ !#-%'-;=?-~]*$/;

function escapeText(text: string, element: string): string {
  if (PLAIN.test(text)) return text;
  return clean(text, element).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** White space in an attribute becomes single spaces: a parser would make spaces of it, a reader sees no more. */
function escapeAttribute(value: string, element: string): string {
  if (PLAIN.test(value) && !value.includes('  ')) return value;
  return clean(value, element)
    .replace(/[\t\n ]+/g, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('"', '&quot;');
}

function clean(text: string, element: string): string {
  const bad = NOT_A_CHARACTER.exec(text);
  if (bad !== null) {
    const code = (bad[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    throw new InvalidDocument(`${element} would hold U+${code}, which XML cannot carry.`);
  }
  const lines = text.replace(LINE_END, '\n');
  if (lines.trim() === '') throw new InvalidDocument(`${element} would be empty.`);
  return lines;
}
