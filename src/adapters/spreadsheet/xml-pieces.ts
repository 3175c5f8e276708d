/**
 * A piece of a part's XML: a requested tag, or the text between two requested tags, which may be split into several
 * pieces.
 */
export interface XmlPiece {
  readonly kind: 'start' | 'end' | 'empty' | 'other';
  /** The local name of a requested tag; empty for other pieces. */
  readonly name: string;
  /** As written. */
  readonly raw: string;
}

/** Maximum length of a tag, comment or CDATA section, characters. */
const LONGEST = 1024 * 1024;

/**
 * Splits XML into pieces. The joined pieces are the input again, and entities are not expanded. UTF-16 is converted to
 * UTF-8, and the pieces must be written in UTF-8.
 * @param names the local names of the requested tags, which must have the prefix of the root
 * @throws if the input is in another encoding, a tag does not end, or a tag is longer than 1 MiB
 */
export async function* xmlPieces(
  bytes: AsyncIterable<Uint8Array>,
  names: readonly string[],
): AsyncGenerator<XmlPiece[], void, void> {
  let decoder: TextDecoder | null = null;
  const splitter = new Splitter(names);
  let rest = '';
  for await (const chunk of bytes) {
    decoder ??= decoderOf(chunk);
    let text = rest + decoder.decode(chunk, { stream: true });
    if (decoder.encoding !== 'utf-8')
      text = text.replace(/^(<\?xml\s[^>]*?)\s+encoding\s*=\s*(?:"[^"]*"|'[^']*')/, '$1');
    const { pieces, end } = splitter.split(text);
    rest = text.slice(end);
    if (rest.length > LONGEST) throw new Error('a tag of the XML is too long');
    yield pieces;
  }
  rest += decoder?.decode() ?? '';
  if (rest.length > 0) throw new Error('the XML ends within a tag');
}

/** Keeps a byte order mark of UTF-8 and removes that of UTF-16. */
function decoderOf([first, second]: Uint8Array): TextDecoder {
  const isWide = first === 0xff && second === 0xfe;
  return new TextDecoder(isWide ? 'utf-16le' : 'utf-8', { fatal: true, ignoreBOM: !isWide });
}

const [EXCLAMATION, QUOTE, APOSTROPHE, SLASH, END, QUESTION] = [0x21, 0x22, 0x27, 0x2f, 0x3e, 0x3f];

class Splitter {
  readonly #names: ReadonlySet<string>;
  /** By character code: whether a requested name begins with it. That alone excludes most tags of a sheet. */
  readonly #initials: readonly boolean[];
  /** The prefix of the root with its colon; null before the root. */
  #prefix: string | null = null;

  constructor(names: readonly string[]) {
    this.#names = new Set(names);
    const initials = names.map((name) => name.charCodeAt(0));
    this.#initials = Array.from({ length: 128 }, (_, code) => initials.includes(code));
  }

  /** @returns the pieces of a text, and where its incomplete end begins */
  split(text: string): { readonly pieces: XmlPiece[]; readonly end: number } {
    const pieces: XmlPiece[] = [];
    let from = 0;
    let at = 0;
    const passTo = (end: number) => {
      if (end > from) pieces.push({ kind: 'other', name: '', raw: text.slice(from, end) });
      from = end;
    };
    while (at < text.length) {
      const tag = text.indexOf('<', at);
      if (tag === -1) {
        at = text.length;
        break;
      }
      const end = endOf(text, tag);
      if (end === null) {
        at = tag;
        break;
      }
      const name = this.#nameOf(text, tag, end);
      if (name !== null) {
        passTo(tag);
        const isEnd = text.charCodeAt(tag + 1) === SLASH;
        const kind = isEnd ? 'end' : text.charCodeAt(end - 2) === SLASH ? 'empty' : 'start';
        pieces.push({ kind, name, raw: text.slice(tag, end) });
        from = end;
      }
      at = end;
    }
    passTo(at);
    return { pieces, end: at };
  }

  /** Returns the local name of a tag; null if the tag was not requested. */
  #nameOf(text: string, tag: number, end: number): string | null {
    const first = text.charCodeAt(tag + 1);
    if (first === EXCLAMATION || first === QUESTION) return null;
    this.#prefix ??= prefixOf({ raw: text.slice(tag, end) });
    let start = tag + (first === SLASH ? 2 : 1);
    if (!text.startsWith(this.#prefix, start)) return null;
    start += this.#prefix.length;
    if (!this.#initials[text.charCodeAt(start)]) return null;
    let last = start;
    // Searches for a blank, a slash or the end of the tag.
    for (
      let code = text.charCodeAt(last);
      code > 0x20 && code !== SLASH && code !== END;
      code = text.charCodeAt(++last)
    );
    const name = text.slice(start, last);
    return this.#names.has(name) ? name : null;
  }
}

/** Markup that is no tag, and what ends it. */
const OTHERS = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
] as const;

/** Returns the end of the markup that begins at a place; null if the text does not contain the end. */
function endOf(text: string, start: number): number | null {
  const first = text.charCodeAt(start + 1);
  if (first === EXCLAMATION || first === QUESTION) {
    for (const [begin, end] of OTHERS) {
      if (!text.startsWith(begin, start)) continue;
      const found = text.indexOf(end, start + begin.length);
      return found === -1 ? null : found + end.length;
    }
    // `<![CD` may be the incomplete start of a CDATA section.
    if (OTHERS.some(([begin]) => begin.startsWith(text.slice(start)))) return null;
  }
  for (let i = start + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === END) return i + 1;
    if (code !== QUOTE && code !== APOSTROPHE) continue;
    i = text.indexOf(code === QUOTE ? '"' : "'", i + 1);
    if (i === -1) return null;
  }
  return null;
}

/** Returns an attribute of a tag as written; null if the tag does not have it. */
export function attributeOf({ raw }: XmlPiece, name: string): string | null {
  // The form in which nearly all programs write it.
  const usual = ` ${name}="`;
  const at = raw.indexOf(usual);
  if (at !== -1) return raw.slice(at + usual.length, raw.indexOf('"', at + usual.length));
  const found = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(raw);
  return found ? (found[1] ?? found[2] ?? '') : null;
}

/** Returns the prefix with its colon: `x:` for `<x:row r="1">`. */
export function prefixOf({ raw }: Pick<XmlPiece, 'raw'>): string {
  return /^<\/?([^\s/>:]+:)/.exec(raw)?.[1] ?? '';
}
