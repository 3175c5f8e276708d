import type { ExecutionResult } from 'graphql';
import { answerTooLarge } from '../domain/answer-bounds.ts';
import { takeTurn, WRITTEN_BYTES_A_UNIT } from '../domain/event-loop-turns.ts';

/** Number of characters of JSON that are serialized at a time. */
const PIECE = 128 * 1024;

/** The serialized texts of large data. Their serialization takes several turns of the event loop. */
const serialized = new WeakMap<object, string>();

/**
 * Serializes large data as JSON.stringify does, over several turns of the event loop. {@link resultText} serializes
 * small data.
 * @param maxBytes limit of the text, in bytes of UTF-8
 * @param hold waits until the text may take so many bytes in memory
 * @throws {ServiceError} invalid_request if the text would be longer; serialization stops at the limit
 */
export async function writeData(
  data: object,
  maxBytes: number,
  hold?: (bytes: number) => Promise<void>,
): Promise<void> {
  const estimate = charactersOf(data);
  // Data this small cannot exceed the limit, even with every character escaped.
  if (estimate <= PIECE) return;
  if (estimate > maxBytes) throw tooLong(maxBytes);
  // Twice: as text, and as the bytes that are sent.
  await hold?.(2 * estimate);
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
  // The text is joined, and converted to the bytes that are sent.
  const turn = takeTurn(bytes / WRITTEN_BYTES_A_UNIT);
  if (turn) await turn;
  serialized.set(data, parts.join(''));
}

function tooLong(maxBytes: number) {
  return answerTooLarge(`more than ${maxBytes.toLocaleString('en')} bytes`);
}

/** Serializes a result to JSON, using the text that {@link writeData} has made of its data, if any. */
export function resultText(result: ExecutionResult): string {
  const data = result.data && serialized.get(result.data);
  if (data === undefined || data === null) return JSON.stringify(result);
  const members = Object.entries(result).flatMap(([name, value]) => {
    const text = name === 'data' ? data : JSON.stringify(value);
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`];
  });
  return `{${members.join(',')}}`;
}

/**
 * Estimates the length of a value as JSON in characters. It is exact except for escapes, which make the JSON longer.
 */
export function charactersOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 4;
  let sum = 2;
  if (Array.isArray(value)) for (const item of value) sum += charactersOf(item) + 1;
  else for (const name in value) sum += name.length + 4 + charactersOf((value as Record<string, unknown>)[name]);
  return sum;
}

/** Serializes a value to JSON in pieces of about {@link PIECE} characters; a longer string is one piece. */
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

/** Groups neighbouring items up to {@link PIECE} characters; a longer item is a group of its own. */
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
