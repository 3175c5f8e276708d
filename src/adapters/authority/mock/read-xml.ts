/** An element with its namespace resolved. */
export interface XmlElement {
  readonly uri: string;
  /** Local name. */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  /** The element's own text, with entity and character references resolved. */
  readonly text: string;
}

interface OpenElement extends XmlElement {
  readonly tag: string;
  readonly children: XmlElement[];
  text: string;
  readonly scope: Readonly<Record<string, string>>;
}

const TAG = /<(\/)?([^\s/<>=]+)((?:\s+[^\s=<>/]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/)?>([^<]*)/y;
const ATTRIBUTE = /([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
const REFERENCES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * Parses an XML document that consists of elements, attributes and text only, with any prefixes and quotes. A verified
 * invoice contains nothing else: signature verification refuses DOCTYPE, comments, CDATA sections and processing
 * instructions. Runs in linear time.
 * @returns the root element, or null when the document contains anything else or is not well-formed
 */
export function readXml(xml: string): XmlElement | null {
  const source = xml.replace(/^\uFEFF?(?:<\?xml [^?]*\?>)?\s*/, '').replace(/\r\n?/g, '\n');
  const top = element('', '', {}, {}, '');
  const open: OpenElement[] = [top];
  TAG.lastIndex = 0;
  for (let end = 0; end < source.length; end = TAG.lastIndex) {
    const match = TAG.exec(source);
    const parent = open.at(-1);
    if (match === null || parent === undefined) return null;
    const [, closing, tag = '', raw = '', selfClosing, text = ''] = match;
    if (closing !== undefined) {
      if (parent.tag !== tag || open.length === 1) return null;
      open.pop();
    } else {
      const attributes: Record<string, string> = {};
      for (const [, name = '', double, single] of raw.matchAll(ATTRIBUTE))
        attributes[name] = resolve(double ?? single ?? '');
      const scope = scopeOf(parent.scope, attributes);
      const [prefix, name] = tag.includes(':') ? (tag.split(':') as [string, string]) : ['', tag];
      const uri = scope[prefix] ?? '';
      if (uri === '' && prefix !== '') return null;
      const child = element(uri, name, attributes, scope, tag);
      parent.children.push(child);
      if (selfClosing === undefined) open.push(child);
    }
    const holder = open.at(-1);
    if (holder !== undefined) holder.text += resolve(text);
  }
  const [root] = top.children;
  return open.length === 1 && top.children.length === 1 && top.text.trim() === '' ? (root ?? null) : null;
}

function element(
  uri: string,
  name: string,
  attributes: Readonly<Record<string, string>>,
  scope: Readonly<Record<string, string>>,
  tag: string,
): OpenElement {
  return { uri, name, attributes, scope, tag, children: [], text: '' };
}

function scopeOf(
  inherited: Readonly<Record<string, string>>,
  attributes: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  let scope = inherited;
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'xmlns') scope = { ...scope, '': value };
    else if (name.startsWith('xmlns:')) scope = { ...scope, [name.slice(6)]: value };
  }
  return scope;
}

function resolve(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(
    /&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi,
    (reference, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return REFERENCES[name] ?? reference;
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : reference;
    },
  );
}
