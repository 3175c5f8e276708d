import { MAX_DOCUMENT_BYTES } from '../../domain/verification/verification.ts';
import { Refused } from './refused.ts';

/**
 * Limits for documents to verify. The longest invoice of this service (1,000 lines) has 4 MB, 13,000 elements and as
 * many attributes, 15 levels and at most 10 namespaces in scope. Parsing and canonicalization take time and memory in
 * proportion to the size, to the number of elements times the namespaces in scope, and to the square of the number of
 * attributes of an element.
 */
export const LIMITS = {
  bytes: MAX_DOCUMENT_BYTES,
  depth: 64,
  elements: 40_000,
  attributes: 80_000,
  /** Namespace declarations count as attributes. */
  attributesOfElement: 64,
  /** Namespace declarations of an element and its ancestors; repeated declarations of a prefix count each time. */
  namespacesInScope: 64,
  /** Characters of a prefix or local name. */
  name: 128,
  /** Characters of a namespace URI. */
  namespace: 256,
  certificates: 16,
  /** Base64 characters of a certificate or a time stamp. */
  encoded: 128 * 1024,
} as const;

const NAME = '(?:([A-Za-z_][\\w.-]*):)?([A-Za-z_][\\w.-]*)';
const START_TAG = new RegExp(`<${NAME}`, 'y');
const END_TAG = new RegExp(`</(${NAME})[ \\t\\n\\r]*>`, 'y');
const ATTRIBUTE = new RegExp(`[ \\t\\n\\r]+${NAME}[ \\t\\n\\r]*=[ \\t\\n\\r]*(?:"([^"<]*)"|'([^'<]*)')`, 'y');
const TAG_END = /[ \t\n\r]*(\/?)>/y;
const NAMESPACE = /^[\w.~:/?#[\]@!$()*+,;=%-]*$/;
const REFERENCE = /&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([\da-fA-F]{1,6}));|&/g;
const NOT_A_CHARACTER = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;

/** The XML declaration of a UTF-8 document (XML 1.0, productions 23 to 32). */
const DECLARATION = xmlDeclaration();
const SPACE = /[ \t\n\r]*/y;
const COMMENT = /<!--(?:[^-]|-(?!-))*-->/y;

const RESERVED_PREFIX = 'A prefix of the document ends in xmlns, which canonicalization mistakes for a declaration.';

/**
 * Checks the bytes of a signed document before it is parsed: UTF-8 that consists of elements, attributes and text only,
 * within {@link LIMITS}. Makes one pass over the text, in linear time.
 *
 * Not part of what is signed, and allowed: a byte order mark, an XML declaration, and white space and comments before
 * and after the root element (Canonical XML, section 2.1).
 *
 * Refused with `structure`:
 * - a DOCTYPE and entities (XML bombs), CDATA sections and processing instructions, and comments within the root
 * element, where readers differ in what its text is (a signed invoice never contains them);
 * - constructs for which xmldsigjs' canonicalization gives different documents the same digest: a namespace with a
 * character that needs escaping (it is written unescaped, so it could imitate elements), an empty namespace (written in
 * the wrong places), a prefix that ends in `xmlns` (its attributes are mistaken for declarations and dropped), and a
 * non-ASCII prefix (it is truncated).
 * @returns the text of the root element
 * @throws {Refused} with `limits` or `structure`
 */
export function readPlainXml(bytes: Uint8Array): string {
  limit(bytes.length <= LIMITS.bytes, `The document is too large: more than ${LIMITS.bytes / 1024 / 1024} MiB.`);
  const whole = decode(bytes);
  demand(!NOT_A_CHARACTER.test(whole), 'The document contains a character that XML does not allow.');
  const text = rootElement(whole);
  demand(
    !/<[!?]/.test(text),
    'The document contains a DOCTYPE, a comment, a CDATA section or a processing instruction, which is not allowed.',
  );
  wellFormed(text.startsWith('<') && text.endsWith('>'));
  scanReferences(text);
  scanElements(text);
  return text;
}

function xmlDeclaration(): RegExp {
  const space = '[ \\t\\n\\r]';
  const stated = (name: string, value: string) => `${space}+${name}${space}*=${space}*(?:"${value}"|'${value}')`;
  const [version, encoding] = [stated('version', '1\\.0'), stated('encoding', '[Uu][Tt][Ff]-8')];
  return new RegExp(`^<\\?xml${version}(?:${encoding})?(?:${stated('standalone', '(?:yes|no)')})?${space}*\\?>`);
}

/** Returns the text of the root element, without the parts that may precede and follow it. */
function rootElement(text: string): string {
  let start = DECLARATION.exec(text)?.[0].length ?? 0;
  for (let found: RegExpExecArray | null; ; start += found[0].length) {
    start += take(SPACE, text, start)![0].length;
    found = take(COMMENT, text, start);
    if (found === null) break;
  }
  let end = text.length;
  for (;;) {
    while (end > start && ' \t\n\r'.includes(text[end - 1]!)) end -= 1;
    const opening = text.endsWith('-->', end) ? text.lastIndexOf('<!--', end) : -1;
    if (opening < start || take(COMMENT, text, opening)?.[0].length !== end - opening) break;
    end = opening;
  }
  return text.slice(start, end);
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Refused('structure', 'The document is not UTF-8.');
  }
}

function scanReferences(text: string): void {
  if (!text.includes('&')) return;
  for (const [, name, decimal, hex] of text.matchAll(REFERENCE)) {
    if (name !== undefined) continue;
    const code = Number(decimal ?? (hex === undefined ? 0 : `0x${hex}`));
    demand(code > 0 && code <= 0x10ffff, 'The document refers to an entity or to a character that does not exist.');
    demand(
      !NOT_A_CHARACTER.test(String.fromCodePoint(code)),
      'The document contains a character that XML does not allow.',
    );
  }
}

/** Checks every tag. Accepts only syntax that all parsers read in the same way. */
function scanElements(text: string): void {
  const open: { readonly name: string; readonly declared: number }[] = [];
  const count = { elements: 0, attributes: 0, inScope: 0 };
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at)) {
    if (text.charCodeAt(at + 1) === 0x2f) {
      const [all, name] = take(END_TAG, text, at) ?? [];
      const element = open.pop();
      wellFormed(all !== undefined && element?.name === name);
      count.inScope -= element?.declared ?? 0;
      at += all.length;
    } else {
      const tag = readStartTag(text, at, count);
      limit(++count.elements <= LIMITS.elements, `The document has too many elements: more than ${LIMITS.elements}.`);
      if (tag.isEmpty) {
        count.inScope -= tag.declared;
      } else {
        open.push(tag);
        limit(open.length <= LIMITS.depth, `The document is nested too deeply: more than ${LIMITS.depth} levels.`);
      }
      at = tag.end;
    }
  }
  wellFormed(open.length === 0 && count.elements > 0);
}

function readStartTag(text: string, start: number, count: { attributes: number; inScope: number }) {
  const opening = take(START_TAG, text, start);
  wellFormed(opening !== null);
  expectName(opening[1], opening[2]);
  demand(!opening[1]?.endsWith('xmlns'), RESERVED_PREFIX);
  let end = start + opening[0].length;
  let [attributes, declared] = [0, 0];
  for (let found = take(ATTRIBUTE, text, end); found !== null; found = take(ATTRIBUTE, text, end)) {
    const [all, prefix, name = '', inDouble, inSingle = ''] = found;
    end += all.length;
    expectName(prefix, name);
    limit(
      ++attributes <= LIMITS.attributesOfElement,
      `An element of the document has too many attributes: more than ${LIMITS.attributesOfElement}.`,
    );
    limit(
      ++count.attributes <= LIMITS.attributes,
      `The document has too many attributes: more than ${LIMITS.attributes}.`,
    );
    if (prefix === 'xmlns' || (prefix === undefined && name === 'xmlns')) {
      declared++;
      limit(
        ++count.inScope <= LIMITS.namespacesInScope,
        `The document has too many namespaces: more than ${LIMITS.namespacesInScope} in scope of one element.`,
      );
      expectNamespace(inDouble ?? inSingle);
      demand(
        (prefix === undefined || !/^xml/i.test(name)) && (inDouble ?? inSingle) !== '',
        'The document declares a prefix that XML reserves, or an empty namespace.',
      );
    } else {
      demand(!prefix?.endsWith('xmlns'), RESERVED_PREFIX);
    }
  }
  const closing = take(TAG_END, text, end);
  wellFormed(closing !== null);
  const name = opening[0].slice(1);
  return { name, declared, isEmpty: closing[1] === '/', end: end + closing[0].length };
}

function expectName(prefix: string | undefined, local = ''): void {
  limit(
    (prefix?.length ?? 0) <= LIMITS.name && local.length <= LIMITS.name,
    `A name in the document is too long: more than ${LIMITS.name} characters.`,
  );
}

function expectNamespace(namespace: string): void {
  limit(
    namespace.length <= LIMITS.namespace,
    `A namespace of the document is too long: more than ${LIMITS.namespace} characters.`,
  );
  demand(NAMESPACE.test(namespace), 'A namespace of the document is not a URI of unescaped ASCII characters.');
}

function take(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function limit(condition: boolean, reason: string): asserts condition {
  if (!condition) throw new Refused('limits', reason);
}

function demand(condition: boolean, reason: string): asserts condition {
  if (!condition) throw new Refused('structure', reason);
}

function wellFormed(condition: boolean): asserts condition {
  demand(condition, 'The document is not well-formed XML, or a name in it is not ASCII.');
}
