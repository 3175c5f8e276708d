import { IMPORT_LIMITS } from '../../domain/imports/limits.ts';
import { UnreadableFile } from '../../domain/imports/reading.ts';
import { readWholeXml } from './read-xml.ts';

/** Maximum characters of all texts together, and maximum number of texts. */
const MOST = { characters: 40_000_000, texts: 1_500_000 };

/**
 * Reads the texts that cells refer to by their index. Only the beginning of a long text is kept. Phonetic readings of
 * Japanese words (`rPh`) are left out.
 * @throws {UnreadableFile}
 */
export async function readStrings(chunks: AsyncIterable<Uint8Array>): Promise<readonly string[]> {
  const texts: string[] = [];
  let characters = 0;
  let text = '';
  let [isText, isReading] = [false, false];
  await readWholeXml(chunks, {
    open(name) {
      if (name === 'si') text = '';
      else if (name === 'rPh') isReading = true;
      else if (name === 't') isText = !isReading;
    },
    text(piece) {
      if (isText && text.length <= IMPORT_LIMITS.cell) text += piece;
    },
    close(name) {
      if (name === 't') isText = false;
      else if (name === 'rPh') isReading = false;
      else if (name === 'si') {
        const kept = shortened(unescaped(text));
        texts.push(kept);
        characters += kept.length;
        if (characters > MOST.characters || texts.length > MOST.texts) throw new UnreadableFile('too_costly');
      }
    },
  });
  return texts;
}

/** Cuts a long text. Copies the result, because a substring keeps its whole text in memory. */
export function shortened(text: string): string {
  const most = IMPORT_LIMITS.cell + 1;
  return text.length <= most ? text : Buffer.from(text.slice(0, most), 'utf16le').toString('utf16le');
}

/** Reads `_x000D_` as the character with that code (section 22.9.2.19). */
export function unescaped(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_match, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}
