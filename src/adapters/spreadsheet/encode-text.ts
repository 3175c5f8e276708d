/** Returns a function that encodes texts. @param encoding a name of the Encoding Standard, such as `windows-1256` */
export function encoderOf(encoding: string): (text: string) => Buffer {
  if (encoding === 'utf-8') return (text) => Buffer.from(text);
  if (encoding === 'utf-16le') return (text) => Buffer.from(text, 'utf16le');
  if (encoding === 'utf-16be') return (text) => Buffer.from(text, 'utf16le').swap16();
  const bytes = bytesOf(encoding);
  return (text) => Buffer.from([...text].flatMap((character) => encoded(character, bytes)));
}

/** Returns the byte of each character of an encoding that has one byte per character. */
function bytesOf(encoding: string): ReadonlyMap<string, number> {
  const decoder = new TextDecoder(encoding);
  return new Map(Array.from({ length: 256 }, (_, byte) => [decoder.decode(Uint8Array.of(byte)), byte]));
}

const QUESTION_MARK = 0x3f;
/** Substitutes for characters that an encoding lacks. */
const LIKE: Readonly<Record<string, string>> = { '\u202f': '\u00a0' };

/**
 * A character that the encoding lacks is written without its accent (`É` in windows-1256), else as a question mark.
 */
function encoded(character: string, bytes: ReadonlyMap<string, number>): number[] {
  const byte = bytes.get(character) ?? bytes.get(LIKE[character] ?? '');
  if (byte !== undefined) return [byte];
  const plain = character.normalize('NFKD').replaceAll(/\p{Mn}/gu, '');
  return [...plain].map((each) => bytes.get(each) ?? QUESTION_MARK);
}
