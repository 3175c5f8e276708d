import { LRUCache } from 'lru-cache';
import { BSON } from 'mongodb';

/** Documents that are remembered, bytes as they are stored; decoded they take about four times as much besides. */
const REMEMBERED_BYTES = 4 * 1024 * 1024;
/** How a document with a string `_id` begins, after its length: servers put that field first. */
const ID_FIRST = Buffer.from('\x02_id\0', 'latin1');

/** What became of a document. */
export interface Decoded<Value> {
  readonly id: string;
  /** The same object as long as the document is the same, for all who read it: frozen. */
  readonly value: Value;
}

/** Decodes a document, unless it is known. */
export interface DecodeOnce<Value> {
  (bytes: Uint8Array): Decoded<Value>;
  /** What was decoded of the same bytes before; null when that is not remembered. Costs next to nothing. */
  known(bytes: Uint8Array): Decoded<Value> | null;
}

/**
 * Decodes documents; one whose bytes are those of the last time, which most reads of clients that wait for a change find, is not decoded
 * again. Nothing can be out of date: what is remembered is compared with what was read.
 * @param convert what is made of a document, by nothing but its content
 */
export function decodedOnce<Stored extends { _id: string }, Value>(
  convert: (document: Stored) => Value,
): DecodeOnce<Value> {
  type Remembered = Decoded<Value> & { readonly bytes: Uint8Array };
  const remembered = new LRUCache<string, Remembered>({
    maxSize: REMEMBERED_BYTES,
    sizeCalculation: ({ bytes }) => bytes.length,
  });
  const known = (bytes: Uint8Array) => {
    const before = remembered.get(leadingId(bytes));
    return before && Buffer.compare(before.bytes, bytes) === 0 ? before : null;
  };
  const decode = (bytes: Uint8Array) => {
    const before = known(bytes);
    if (before) return before;
    const document = BSON.deserialize(bytes) as Stored;
    // A copy: these bytes are a part of a message with other documents.
    const decoded = { id: document._id, value: frozen(convert(document)), bytes: new Uint8Array(bytes) };
    remembered.set(decoded.id, decoded);
    return decoded;
  };
  return Object.assign(decode, { known });
}

/** The `_id` if the document begins with it, else an empty string. */
function leadingId(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (text.compare(ID_FIRST, 0, ID_FIRST.length, 4, 4 + ID_FIRST.length) !== 0) return '';
  const start = 4 + ID_FIRST.length + 4;
  return text.toString('utf8', start, start + text.readInt32LE(start - 4) - 1);
}

function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  for (const each of Object.values(value)) frozen(each);
  return Object.freeze(value);
}
