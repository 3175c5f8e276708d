import { MAX_DOCUMENT_BYTES } from '../../domain/verification/verification.ts';
import { Refused } from './refused.ts';

/**
 * What is checked at most. The longest invoice of this service (1,000 lines) has 4 MB, 13,000 elements and as many attributes, 15 levels and
 * at most 10 namespaces in force. Parser and canonical form take time and memory in proportion to the size, the elements times the
 * namespaces in force, and the square of the attributes of an element.
 */
export const LIMITS = {
  bytes: MAX_DOCUMENT_BYTES,
  depth: 64,
  elements: 40_000,
  attributes: 80_000,
  /** Namespace declarations are attributes, too. */
  attributesOfElement: 64,
  /** Declarations of an element and of those around it, each counted however often its prefix is declared. */
  namespacesInForce: 64,
  /** Characters of a name's prefix or local part, and of a namespace. */
  name: 128,
  namespace: 256,
} as const;

const NAME = '(?:([A-Za-z_][\\w.-]*):)?([A-Za-z_][\\w.-]*)';
const START_TAG = new RegExp(`<${NAME}`, 'y');
const END_TAG = new RegExp(`</(${NAME})[ \\t\\n\\r]*>`, 'y');
const ATTRIBUTE = new RegExp(`[ \\t\\n\\r]+${NAME}[ \\t\\n\\r]*=[ \\t\\n\\r]*(?:"([^"<]*)"|'([^'<]*)')`, 'y');
const TAG_END = /[ \t\n\r]*(\/?)>/y;
const NAMESPACE = /^[\w.~:/?#[\]@!$()*+,;=%-]*$/;
const REFERENCE = /&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([\da-fA-F]{1,6}));|&/g;
const NOT_A_CHARACTER = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;

const RESERVED_PREFIX = 'One of its prefixes ends in xmlns, which canonical form takes for a declaration.';

/**
 * Reads the bytes of a signed document as far as a parser may have it: UTF-8, elements, attributes and text, none of them beyond
 * {@link LIMITS}. One pass over the text, whose time is in proportion to its length, before any tree is made of it.
 *
 * Refused with `structure` are a DOCTYPE and entities (XML bombs are made of them), comments, CDATA sections and processing instructions
 * (no part of what is signed), and what xmldsigjs' canonical form does not keep apart, so that two documents would have one digest:
 * a namespace with a character that must be escaped (it is written unescaped, and so could hold what another document has as elements),
 * an empty namespace (it is written where it should not be), a prefix that ends in `xmlns` (its attributes are taken for declarations and left out), a prefix outside of ASCII (it is cut short).
 * @returns the text, without its XML declaration
 * @throws {Refused} with `limits` or `structure`
 */
export function readPlainXml(bytes: Uint8Array): string {
  limit(bytes.length <= LIMITS.bytes, `It is too large: more than ${LIMITS.bytes / 1024 / 1024} MiB.`);
  const text = decode(bytes).replace(
    /^<\?xml version=["']1\.0["'](?: encoding=["']utf-8["'])?(?: standalone=["']\w+["'])?\s*\?>/i,
    '',
  );
  demand(
    !/<[!?]/.test(text),
    'It holds a DOCTYPE, a comment, a CDATA section or a processing instruction, which a signed invoice must not.',
  );
  demand(!NOT_A_CHARACTER.test(text), 'It holds a character that XML does not allow.');
  scanReferences(text);
  scanElements(text);
  return text;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Refused('structure', 'It is not UTF-8.');
  }
}

function scanReferences(text: string): void {
  if (!text.includes('&')) return;
  for (const [, name, decimal, hex] of text.matchAll(REFERENCE)) {
    if (name !== undefined) continue;
    const code = Number(decimal ?? (hex === undefined ? 0 : `0x${hex}`));
    demand(code > 0 && code <= 0x10ffff, 'It refers to an entity or to a character that does not exist.');
    demand(!NOT_A_CHARACTER.test(String.fromCodePoint(code)), 'It holds a character that XML does not allow.');
  }
}

/** Goes from tag to tag, which must be of the one form that every parser reads in the same way. */
function scanElements(text: string): void {
  const open: { readonly name: string; readonly declared: number }[] = [];
  const count = { elements: 0, attributes: 0, inForce: 0 };
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at)) {
    if (text.charCodeAt(at + 1) === 0x2f) {
      const [all, name] = take(END_TAG, text, at) ?? [];
      const element = open.pop();
      wellFormed(all !== undefined && element?.name === name);
      count.inForce -= element?.declared ?? 0;
      at += all.length;
    } else {
      const tag = readStartTag(text, at, count);
      limit(++count.elements <= LIMITS.elements, `It has too many elements: more than ${LIMITS.elements}.`);
      if (tag.isEmpty) {
        count.inForce -= tag.declared;
      } else {
        open.push(tag);
        limit(open.length <= LIMITS.depth, `It is nested too deeply: more than ${LIMITS.depth} levels.`);
      }
      at = tag.end;
    }
  }
  wellFormed(open.length === 0 && count.elements > 0);
}

function readStartTag(text: string, start: number, count: { attributes: number; inForce: number }) {
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
      `One of its elements has too many attributes: more than ${LIMITS.attributesOfElement}.`,
    );
    limit(
      ++count.attributes <= LIMITS.attributes,
      `Its elements have too many attributes: more than ${LIMITS.attributes}.`,
    );
    if (prefix === 'xmlns' || (prefix === undefined && name === 'xmlns')) {
      declared++;
      limit(
        ++count.inForce <= LIMITS.namespacesInForce,
        `It has too many namespaces: more than ${LIMITS.namespacesInForce} in force at one place.`,
      );
      expectNamespace(inDouble ?? inSingle);
      demand(
        (prefix === undefined || !/^xml/i.test(name)) && (inDouble ?? inSingle) !== '',
        'It declares a prefix that XML reserves, or an empty namespace.',
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
    `One of its names is too long: more than ${LIMITS.name} characters.`,
  );
}

function expectNamespace(namespace: string): void {
  limit(
    namespace.length <= LIMITS.namespace,
    `One of its namespaces is too long: more than ${LIMITS.namespace} characters.`,
  );
  demand(NAMESPACE.test(namespace), 'One of its namespaces is no URI of plain characters.');
}

function take(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function limit(holds: boolean, reason: string): asserts holds {
  if (!holds) throw new Refused('limits', reason);
}

function demand(holds: boolean, reason: string): asserts holds {
  if (!holds) throw new Refused('structure', reason);
}

function wellFormed(holds: boolean): asserts holds {
  demand(holds, 'It is not well-formed XML, or a name in it is not ASCII.');
}
