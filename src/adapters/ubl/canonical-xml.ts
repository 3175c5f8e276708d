import { InvalidDocument } from '../../domain/invoice/ports.ts';

/** An element to write. Its prefix is a key of the namespaces passed to {@link writeCanonical}. */
export interface Element {
  readonly name: string;
  /** Unprefixed attributes. */
  readonly attributes?: Readonly<Record<string, string>>;
  /** Child elements or text, not both; must not be empty. */
  readonly content: readonly Content[] | string;
}

/** Marks the position of the signature among an element's children. */
export const SIGNATURE_PLACE = Symbol('signature place');
export type Content = Element | typeof SIGNATURE_PLACE;

export interface CanonicalXml {
  readonly xml: string;
  /** Offset of {@link SIGNATURE_PLACE} in `xml` in UTF-16 code units; -1 when there is none. */
  readonly signatureAt: number;
}

/**
 * Writes a document in Exclusive XML Canonicalization 1.0 (without comments), so that its bytes can be digested without
 * parsing: each namespace is declared only where it is first used, attributes are sorted, no element is self-closing,
 * and characters are escaped by Canonical XML, section 2.3. There is no XML declaration and no white space between
 * elements.
 * @param namespaces URI by prefix; `''` is the default namespace
 * @throws {InvalidDocument} for an empty element, or for characters that XML 1.0 does not allow
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
      if (uri === undefined) throw new InvalidDocument(`The prefix of ${name} has no namespace.`);
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
      if (content.length === 0) throw new InvalidDocument(`${name} must not be empty.`);
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
 * Matches line ends, all of which are replaced by LF. XML parsers replace CR in this way. XML 1.1 and xmldom also treat
 * U+0085 and U+2028 as line ends, which would change the signed text and break the signature.
 */
const LINE_END = /\r[\n\u0085]?|[\u0085\u2028]/g;
/** Matches characters that XML 1.0 does not allow (production Char), including lone surrogates. */
const NOT_A_CHARACTER = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;

/** Matches text that needs no escaping, the common case. */
const PLAIN = /^[!#-%'-;=?-~][ !#-%'-;=?-~]*$/;

function escapeText(text: string, element: string): string {
  if (PLAIN.test(text)) return text;
  return clean(text, element).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * Escapes an attribute value. Runs of white space become one space: parsers normalize white space in attributes anyway.
 */
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
    throw new InvalidDocument(`${element} contains U+${code}, which XML does not allow.`);
  }
  const lines = text.replace(LINE_END, '\n');
  if (lines.trim() === '') throw new InvalidDocument(`${element} must not be empty.`);
  return lines;
}
