import type { SignedForm } from '../../domain/verification/verification.ts';
import { LIMITS } from './plain-xml.ts';
import { DS, FORMS } from './vocabulary.ts';

/** An element of a document in canonical form. */
export interface CanonicalElement {
  readonly uri: string;
  /** Local name. */
  readonly name: string;
  readonly children: CanonicalElement[];
  /** The element's own text, unescaped. */
  text: string;
}

interface OpenElement extends CanonicalElement {
  readonly tag: string;
  /** The namespaces that are in scope, by prefix. */
  readonly scope: Readonly<Record<string, string>>;
}

const NAME = '[A-Za-z_][\\w.-]*';
const TAG = new RegExp(`<(/?)((?:(${NAME}):)?(${NAME}))((?: ${NAME}(?::${NAME})?="[^"<>&\\t\\n\\r]*")*)>([^<>]*)`, 'y');
const ATTRIBUTE = new RegExp(` (xmlns(?=[:=]))?:?(${NAME})?="([^"]*)"`, 'y');
const NAMESPACE = /^[\w.~:/?#[\]@!$()*+,;=%-]+$/;
/** Matches prefixes that XML reserves, and prefixes that xmldsigjs' canonicalization mistakes for declarations. */
const RESERVED = /^xml|xmlns$/i;
/**
 * Matches characters that XML does not allow, or that parsers replace, including the C0 controls except tab and line
 * feed.
 */
const FOREIGN = /[^\t\n\u{20}-\u{84}\u{86}-\u{2027}\u{2029}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;
const REFERENCE = /&(?:(amp|lt|gt);)?/g;
const CHARACTERS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>' };

/**
 * Reads a document whose bytes are already in Exclusive XML Canonicalization 1.0, so that they can be digested
 * unchanged: every namespace is declared where it is first used and nowhere else, attributes are sorted, no element is
 * self-closing, and characters are escaped by Canonical XML, section 2.3. Supports only a part of that form, which
 * covers every document of this service: attributes have no prefix and no escaped characters.
 * @param text the document without its signature
 * @param signatureAt offset at which the signature was; it must be the position that the form prescribes
 * @returns null if the document is in another form, exceeds the verifier's limits, or has a second signature or Ids
 */
export function readCanonicalForm(text: string, signatureAt: number, form: SignedForm): CanonicalElement | null {
  if (FOREIGN.test(text)) return null;
  const top: OpenElement = { uri: '', name: '', tag: '', scope: {}, children: [], text: '' };
  const open: OpenElement[] = [top];
  let [elements, attributes, isPlaced] = [0, 0, false];
  TAG.lastIndex = 0;
  for (let at = 0; at < text.length; at = TAG.lastIndex) {
    if (at === signatureAt) isPlaced = isSignaturePlace(open, form);
    const match = TAG.exec(text);
    const parent = open.at(-1);
    if (match === null || parent === undefined) return null;
    const [, slash, tag = '', prefix = '', name = '', given = '', content = ''] = match;
    if (slash === '/') {
      if (parent.tag !== tag || given !== '' || open.length === 1) return null;
      open.pop();
    } else {
      if (open.length === 1 && top.children.length > 0) return null;
      const scope = scopeOf(prefix, given, parent.scope);
      const uri = scope?.[prefix];
      if (scope === null || uri === undefined || uri === DS || RESERVED.test(prefix)) return null;
      const element: OpenElement = { uri, name, tag, scope, children: [], text: '' };
      parent.children.push(element);
      open.push(element);
      attributes += given.length === 0 ? 0 : given.split('="').length - 1;
      if (++elements > LIMITS.elements || open.length > LIMITS.depth || attributes > LIMITS.attributes) return null;
      if (tag.length > LIMITS.name) return null;
    }
    const holder = open.at(-1);
    const plain = unescaped(content);
    if (plain === null || holder === undefined) return null;
    if (holder === top ? plain !== '' : false) return null;
    holder.text += plain;
  }
  const [root] = top.children;
  return open.length === 1 && isPlaced && root !== undefined ? root : null;
}

/**
 * Reads the namespaces of an element.
 * @returns those in scope; null if its attributes are not in canonical form, or one is an Id
 */
function scopeOf(
  prefix: string,
  attributes: string,
  inherited: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> | null {
  if (attributes === '') return inherited;
  let scope = inherited;
  let before: string | null = null;
  ATTRIBUTE.lastIndex = 0;
  for (let at = 0, count = 0; at < attributes.length; at = ATTRIBUTE.lastIndex) {
    const match = ATTRIBUTE.exec(attributes);
    if (match === null || ++count > LIMITS.attributesOfElement) return null;
    const [, declaration, name = '', value = ''] = match;
    if (declaration !== undefined) {
      // A declaration is needed if the element uses it and no ancestor has it. It must come before other attributes.
      const isNeeded = name === prefix && inherited[name] !== value && scope === inherited && before === null;
      if (!isNeeded || !NAMESPACE.test(value) || value.length > LIMITS.namespace) return null;
      scope = { ...inherited, [name]: value };
    } else {
      if (/^id$/i.test(name) || name.length > LIMITS.name || (before !== null && name <= before)) return null;
      before = name;
    }
  }
  return scope;
}

/** Whether the signature may be at this position: in the last element of the form's path. */
function isSignaturePlace(open: readonly OpenElement[], form: SignedForm): boolean {
  const { signaturePath } = FORMS[form];
  return (
    open.length === signaturePath.length + 2 &&
    signaturePath.every(([uri, name], index) => open[index + 2]?.uri === uri && open[index + 2]?.name === name)
  );
}

/**
 * Unescapes a text.
 * @returns null if a character is escaped that canonical form does not escape, or is escaped differently
 */
function unescaped(text: string): string | null {
  if (!text.includes('&')) return text;
  let isCanonical = true;
  const plain = text.replace(REFERENCE, (_all, name?: string) => {
    isCanonical &&= name !== undefined;
    return CHARACTERS[name ?? ''] ?? '';
  });
  return isCanonical ? plain : null;
}
