import { SaxesParser, type SaxesTagPlain } from 'saxes';
import { UnreadableFile } from '../../domain/imports/reading.ts';

/** Handlers for the elements of a part, by their names without prefix. */
export interface XmlHandlers {
  open?(name: string, attributes: Readonly<Record<string, string>>): void;
  text?(text: string): void;
  close?(name: string): void;
}

/** Maximum length of a text, tag or comment, characters: thirty times the maximum of a cell. */
const LONGEST_TOKEN = 1024 * 1024;
/** Maximum nesting of elements. Sheets have nine levels. */
const DEEPEST = 64;

/**
 * Reads XML piece by piece; after each piece the caller may use what was found. Accepts only well-formed documents
 * without a DTD, so the only entities are the five of XML, and nothing outside the part is read.
 * @throws {UnreadableFile} `damaged` for anything else
 */
export async function* readXml(
  chunks: AsyncIterable<Uint8Array>,
  handlers: XmlHandlers,
): AsyncGenerator<undefined, void, void> {
  const parser = new SaxesParser({ xmlns: false, position: false });
  let depth = 0;
  /** Characters since the last token ended. */
  let pending = 0;
  parser.on('error', fail);
  parser.on('doctype', fail);
  parser.on('opentag', ({ name, attributes }: SaxesTagPlain) => {
    pending = 0;
    if (++depth > DEEPEST) fail();
    handlers.open?.(localName(name), attributes);
  });
  parser.on('closetag', ({ name }: SaxesTagPlain) => {
    pending = 0;
    depth--;
    handlers.close?.(localName(name));
  });
  const { text } = handlers;
  if (text) {
    parser.on('text', text);
    parser.on('cdata', text);
  }
  let decoder: TextDecoder | null = null;
  for await (const chunk of chunks) {
    decoder ??= new TextDecoder(chunk[0] === 0xff && chunk[1] === 0xfe ? 'utf-16le' : 'utf-8', { fatal: true });
    const piece = decoded(decoder, chunk);
    pending += piece.length;
    if (pending > LONGEST_TOKEN + piece.length) fail();
    parser.write(piece);
    yield;
  }
  parser.write(decoded(decoder ?? new TextDecoder(), null));
  parser.close();
  yield;
}

/** Reads a whole part. @throws {UnreadableFile} */
export async function readWholeXml(chunks: AsyncIterable<Uint8Array>, handlers: XmlHandlers): Promise<void> {
  for await (const _ of readXml(chunks, handlers));
}

function decoded(decoder: TextDecoder, chunk: Uint8Array | null): string {
  try {
    return chunk === null ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch {
    return fail();
  }
}

function fail(): never {
  throw new UnreadableFile('damaged');
}

function localName(name: string): string {
  const colon = name.indexOf(':');
  return colon < 0 ? name : name.slice(colon + 1);
}

/** Returns the value of an attribute by its name without prefix. */
export function attributeOf(attributes: Readonly<Record<string, string>>, name: string): string | undefined {
  if (attributes[name] !== undefined) return attributes[name];
  return Object.entries(attributes).find(([each]) => each.endsWith(`:${name}`))?.[1];
}
