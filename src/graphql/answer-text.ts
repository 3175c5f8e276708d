import type { ExecutionResult } from 'graphql';
import { answerTooLarge } from '../domain/answer-bounds.ts';
import { takeTurn, WRITTEN_BYTES_A_UNIT } from '../domain/turns.ts';

/** Characters of JSON that are written at a time. */
const PIECE = 128 * 1024;

/** The text of data that was written already: of large answers, whose writing takes several turns of the event loop. */
const written = new WeakMap<object, string>();

/**
 * Writes the data of an answer as JSON, the same text as JSON.stringify's, in turns of the event loop; {@link resultText} uses it.
 * @param maxBytes in UTF-8
 * @throws {ServiceError} invalid_request for data whose text would be longer; not more than that of it is written
 */
export async function writeData(data: object, maxBytes: number): Promise<void> {
  const estimate = charactersOf(data);
  // So little can not be too much, whatever is to be escaped in it.
  if (estimate <= PIECE) return;
  if (estimate > maxBytes) throw tooLong(maxBytes);
  const parts: string[] = [];
  let bytes = 0;
  for (const piece of piecesOf(data)) {
    const length = Buffer.byteLength(piece);
    bytes += length;
    if (bytes > maxBytes) throw tooLong(maxBytes);
    parts.push(piece);
    const turn = takeTurn(length / WRITTEN_BYTES_A_UNIT);
    if (turn) await turn;
  }
  written.set(data, parts.join(''));
}

function tooLong(maxBytes: number) {
  return answerTooLarge(`more than ${maxBytes.toLocaleString('en')} bytes`);
}

/** A result as JSON. */
export function resultText(result: ExecutionResult): string {
  const data = result.data && written.get(result.data);
  if (data === undefined || data === null) return JSON.stringify(result);
  const members = Object.entries(result).flatMap(([name, value]) => {
    const text = name === 'data' ? data : JSON.stringify(value);
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`];
  });
  return `{${members.join(',')}}`;
}

/** Characters that a value has as JSON, at least; its few escapes aside, exactly. */
function charactersOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 4;
  let sum = 2;
  if (Array.isArray(value)) for (const item of value) sum += charactersOf(item) + 1;
  else for (const name in value) sum += name.length + 4 + charactersOf((value as Record<string, unknown>)[name]);
  return sum;
}

/** JSON, cut into texts of about {@link PIECE} characters, or of one long string. */
function* piecesOf(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null || charactersOf(value) <= PIECE) {
    yield JSON.stringify(value);
    return;
  }
  if (Array.isArray(value)) {
    for (const [index, items] of groups(value).entries()) {
      const [item] = items;
      yield index === 0 ? '[' : ',';
      if (items.length === 1) yield* piecesOf(item);
      else yield JSON.stringify(items).slice(1, -1);
    }
    yield ']';
    return;
  }
  let before = '{';
  for (const [name, member] of Object.entries(value)) {
    yield `${before}${JSON.stringify(name)}:`;
    yield* piecesOf(member);
    before = ',';
  }
  yield '}';
}

/** Neighbours that have {@link PIECE} characters together, or one item alone. */
function groups(items: readonly unknown[]): unknown[][] {
  const grouped: unknown[][] = [];
  let room = 0;
  for (const item of items) {
    const characters = charactersOf(item);
    room -= characters;
    const last = grouped.at(-1);
    if (last && room >= 0) last.push(item);
    else {
      grouped.push([item]);
      room = PIECE - characters;
    }
  }
  return grouped;
}
