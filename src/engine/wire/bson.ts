import { deserialize, serialize } from 'bson';
import { CommandError } from '../errors.ts';

type Doc = Record<string, unknown>;

const DECODE = { promoteValues: false, promoteLongs: false, promoteBuffers: false, bsonRegExp: true } as const;

/** Maximum size of a stored document, in bytes (MongoDB's maxBsonObjectSize). */
export const MAX_DOCUMENT = 16 * 1024 * 1024;

/** An array of documents in a reply that are sent as stored, without decoding. */
export class RawArray {
  readonly items: Uint8Array[];
  constructor(items: Uint8Array[]) {
    this.items = items;
  }
}

/** A document in a reply that is sent as stored, without decoding. */
export class RawDocument {
  readonly bytes: Uint8Array;
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

/**
 * Decodes with BSON types preserved (Int32, Double, Long… wrappers), so that encoding again loses no type. Throws error
 * 22 on malformed bytes.
 */
export function decodeDocument(bytes: Uint8Array): Doc {
  try {
    return deserialize(bytes, DECODE);
  } catch (error) {
    throw new CommandError('InvalidBSON', `malformed BSON: ${(error as Error).message}`);
  }
}

/**
 * Throws error 15, as MongoDB does, when documents and arrays are nested deeper than `levels`. After this check,
 * recursive functions are safe from stack overflow.
 */
export function checkDepth(doc: object, levels: number, what: string): void {
  if (levels === 0) throw new CommandError('Overflow', what);
  for (const value of Array.isArray(doc) ? doc : Object.values(doc)) {
    if (Array.isArray(value) || isPlain(value)) checkDepth(value, levels - 1, what);
  }
}

/** Encodes a document without its `undefined` fields. Throws error 10334 when it is too large to encode. */
export function encodeDocument(doc: Doc): Uint8Array {
  try {
    return serialize(doc, { ignoreUndefined: true });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new CommandError('BSONObjectTooLarge', `object is too large: the most is ${MAX_DOCUMENT} bytes`);
  }
}

export interface Element {
  type: number;
  name: string;
  /** Offset of the whole element, whose first byte is the type. */
  start: number;
  /** Offset of the element's value. */
  value: number;
  end: number;
}

/** Walks a document's top-level elements without decoding them. Throws error 22 when the bytes end too early. */
export function* elements(bytes: Uint8Array): Generator<Element> {
  const buffer = asBuffer(bytes);
  if (buffer.length < 5 || buffer.readInt32LE(0) !== buffer.length || buffer[buffer.length - 1] !== 0)
    throw malformed();
  let at = 4;
  while (at < buffer.length - 1) {
    const start = at;
    const type = buffer[at] as number;
    const nameEnd = buffer.indexOf(0, at + 1);
    if (nameEnd < 0) throw malformed();
    const value = nameEnd + 1;
    const end = value + valueSize(buffer, type, value);
    if (end > buffer.length - 1) throw malformed();
    yield { type, name: buffer.toString('utf8', start + 1, nameEnd), start, value, end };
    at = end;
  }
}

/**
 * Compiles a decoder of some top-level fields of stored documents. It skips the other fields, so it takes a fraction of
 * the time of `decodeDocument`, which spends most of its time on making strings. Throws the errors of `decodeDocument`.
 */
export function compileFields(names: Iterable<string>): (bytes: Uint8Array) => Doc {
  const copy = compileCopy(names);
  return (bytes) => decodeDocument(copy(bytes));
}

/** Compiles a function that copies some top-level fields of stored documents without decoding any. Throws error 22. */
export function compileCopy(names: Iterable<string>): (bytes: Uint8Array) => Uint8Array {
  const wanted = [...names].map((name) => Buffer.from(`${name}\0`));
  return (bytes) => {
    const buffer = asBuffer(bytes);
    const part = Buffer.allocUnsafe(buffer.length);
    let length = 4;
    for (let at = 4; at < buffer.length - 1; ) {
      // Searches byte by byte: names are short, and a call of `indexOf`, a native function, would take longer.
      let value = at + 1;
      while (value < buffer.length && buffer[value] !== 0) value++;
      const end = ++value + valueSize(buffer, buffer[at] as number, value);
      if (end > buffer.length - 1) throw malformed();
      if (wanted.some((name) => isAt(buffer, at + 1, name))) {
        part.set(buffer.subarray(at, end), length);
        length += end - at;
      }
      at = end;
    }
    part[length++] = 0;
    part.writeInt32LE(length, 0);
    return part.subarray(0, length);
  };
}

function isAt(buffer: Buffer, start: number, part: Buffer): boolean {
  for (let n = 0; n < part.length; n++) if (buffer[start + n] !== part[n]) return false;
  return true;
}

const EMBEDDED = 3;
const ARRAY = 4;

/** The documents of an array field, encoded. Undefined when any element of the array is not a document. */
export function documentsIn(bytes: Uint8Array, field: string): Uint8Array[] | undefined {
  for (const { type, name, value, end } of elements(bytes)) {
    if (name !== field || type !== ARRAY) continue;
    const items = [...elements(bytes.subarray(value, end))];
    if (!items.every((item) => item.type === EMBEDDED)) return undefined;
    return items.map((item) => bytes.subarray(value + item.value, value + item.end));
  }
  return undefined;
}

/** Moves the document's `_id` element to the front, as MongoDB stores it; undefined when it has no `_id`. */
export function withIdFirst(bytes: Uint8Array): Uint8Array | undefined {
  for (const element of elements(bytes)) {
    if (element.name !== '_id') continue;
    if (element.start === 4) return bytes;
    const moved = Buffer.concat([
      bytes.subarray(0, 4),
      bytes.subarray(element.start, element.end),
      bytes.subarray(4, element.start),
      bytes.subarray(element.end),
    ]);
    return moved;
  }
  return undefined;
}

/** Adds the element `name` at the front of the document. */
export function withElementFirst(name: string, value: unknown, bytes: Uint8Array): Uint8Array {
  const element = encodeElement(name, value);
  const out = Buffer.concat([bytes.subarray(0, 4), element, bytes.subarray(4)]);
  out.writeInt32LE(out.length, 0);
  return out;
}

/**
 * Encodes a reply. Copies the bytes of RawDocument values at the top level, and of RawArray values there or one level
 * below.
 */
export function encodeReply(reply: Doc): Uint8Array {
  const parts: Uint8Array[] = [Buffer.alloc(4)];
  // Adjacent fields without raw values are encoded together.
  let plain: Doc = {};
  const flush = (): void => {
    if (Object.keys(plain).length === 0) return;
    const bytes = encodeDocument(plain);
    parts.push(bytes.subarray(4, bytes.length - 1));
    plain = {};
  };
  for (const [name, value] of Object.entries(reply)) {
    const hasRaw = isPlain(value) && Object.values(value).some((field) => field instanceof RawArray);
    if (!hasRaw && !(value instanceof RawArray) && !(value instanceof RawDocument)) {
      plain[name] = value;
      continue;
    }
    flush();
    if (value instanceof RawArray) parts.push(header(4, name), encodeRawArray(value.items));
    else if (value instanceof RawDocument) parts.push(header(3, name), value.bytes);
    else parts.push(header(3, name), encodeReply(value as Doc));
  }
  flush();
  return finish(parts);
}

function encodeRawArray(items: Uint8Array[]): Uint8Array {
  const parts: Uint8Array[] = [Buffer.alloc(4)];
  items.forEach((item, index) => {
    parts.push(header(3, String(index)), item);
  });
  return finish(parts);
}

function encodeElement(name: string, value: unknown): Uint8Array {
  const bytes = encodeDocument({ [name]: value });
  return bytes.subarray(4, bytes.length - 1);
}

function header(type: number, name: string): Uint8Array {
  return Buffer.from(`${String.fromCharCode(type)}${name}\0`, 'utf8');
}

function finish(parts: Uint8Array[]): Uint8Array {
  parts.push(Buffer.alloc(1));
  const out = Buffer.concat(parts);
  out.writeInt32LE(out.length, 0);
  return out;
}

function isPlain(value: unknown): value is Doc {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function malformed(): CommandError {
  return new CommandError('InvalidBSON', 'malformed BSON');
}

function valueSize(buffer: Buffer, type: number, at: number): number {
  const int32 = (): number => {
    if (at + 4 > buffer.length) throw malformed();
    const size = buffer.readInt32LE(at);
    if (size < 0) throw malformed();
    return size;
  };
  switch (type) {
    case 0x06:
    case 0x0a:
    case 0x7f:
    case 0xff:
      return 0;
    case 0x08:
      return 1;
    case 0x10:
      return 4;
    case 0x01:
    case 0x09:
    case 0x11:
    case 0x12:
      return 8;
    case 0x07:
      return 12;
    case 0x13:
      return 16;
    case 0x02:
    case 0x0d:
    case 0x0e:
      return 4 + int32();
    case 0x03:
    case 0x04:
    case 0x0f:
      return int32();
    case 0x05:
      return 5 + int32();
    case 0x0c:
      return 16 + int32();
    case 0x0b: {
      const pattern = buffer.indexOf(0, at);
      const flags = pattern < 0 ? -1 : buffer.indexOf(0, pattern + 1);
      if (flags < 0) throw malformed();
      return flags + 1 - at;
    }
    default:
      throw malformed();
  }
}
