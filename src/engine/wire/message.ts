import { decodeDocument } from './bson.ts';
import { crc32c } from './crc32c.ts';

type Doc = Record<string, unknown>;

/** Maximum size of a message, in bytes (MongoDB's maxMessageSizeBytes). */
export const MAX_MESSAGE = 48_000_000;

const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const CHECKSUM_PRESENT = 1 << 0;
const MORE_TO_COME = 1 << 1;
const REQUIRED_BITS = 0xffff;

/**
 * A request in either wire format. Its document sequences (such as the `documents` of an `insert`) are kept as raw
 * bytes.
 */
export interface Request {
  id: number;
  /** Whether the request is a legacy OP_QUERY, which is answered with OP_REPLY. */
  legacy: boolean;
  /** Whether the client expects no answer (`w: 0`). */
  silent: boolean;
  body: Doc;
  /** The body as received. */
  bytes: Uint8Array;
  sequences: Map<string, Uint8Array[]>;
}

/** The bytes are not a valid message. The connection is closed, as mongod does. */
export class ProtocolError extends Error {}

/** Parses one complete message, including its header. */
export function parseMessage(message: Buffer): Request {
  const id = message.readInt32LE(4);
  const opcode = message.readInt32LE(12);
  if (opcode === OP_MSG) return parseMsg(id, message);
  if (opcode === OP_QUERY) return parseQuery(id, message);
  throw new ProtocolError(`unsupported opcode ${opcode}`);
}

function parseMsg(id: number, message: Buffer): Request {
  if (message.length < 26) throw new ProtocolError('OP_MSG is too short');
  const flags = message.readUInt32LE(16);
  if (flags & REQUIRED_BITS & ~(CHECKSUM_PRESENT | MORE_TO_COME))
    throw new ProtocolError('unknown required flag of OP_MSG');
  let end = message.length;
  if (flags & CHECKSUM_PRESENT) {
    end -= 4;
    if (crc32c(message.subarray(0, end)) !== message.readUInt32LE(end))
      throw new ProtocolError('checksum of OP_MSG is wrong');
  }
  let body: { doc: Doc; bytes: Uint8Array } | undefined;
  const sequences = new Map<string, Uint8Array[]>();
  let at = 20;
  while (at < end) {
    const kind = message[at++];
    if (kind === 0) {
      const bytes = documentAt(message, at, end);
      if (body) throw new ProtocolError('OP_MSG has two bodies');
      body = { doc: decodeDocument(bytes), bytes };
      at += bytes.length;
    } else if (kind === 1) {
      const size = at + 4 <= end ? message.readInt32LE(at) : 0;
      const stop = at + size;
      const nameEnd = message.indexOf(0, at + 4);
      if (size < 5 || stop > end || nameEnd < 0 || nameEnd >= stop)
        throw new ProtocolError('malformed document sequence');
      const name = message.toString('utf8', at + 4, nameEnd);
      if (sequences.has(name)) throw new ProtocolError(`duplicate document sequence ${name}`);
      const documents: Uint8Array[] = [];
      for (let next = nameEnd + 1; next < stop; ) {
        const bytes = documentAt(message, next, stop);
        documents.push(bytes);
        next += bytes.length;
      }
      sequences.set(name, documents);
      at = stop;
    } else throw new ProtocolError(`unknown section kind ${kind}`);
  }
  if (!body) throw new ProtocolError('OP_MSG has no body');
  return { id, legacy: false, silent: (flags & MORE_TO_COME) !== 0, body: body.doc, bytes: body.bytes, sequences };
}

function parseQuery(id: number, message: Buffer): Request {
  const nameEnd = message.indexOf(0, 20);
  if (nameEnd < 0) throw new ProtocolError('malformed OP_QUERY');
  const namespace = message.toString('utf8', 20, nameEnd);
  if (!namespace.endsWith('.$cmd')) throw new ProtocolError('OP_QUERY is supported for commands only');
  const bytes = documentAt(message, nameEnd + 9, message.length);
  const body = { ...decodeDocument(bytes), $db: namespace.slice(0, -5) };
  return { id, legacy: true, silent: false, body, bytes, sequences: new Map() };
}

function documentAt(message: Buffer, at: number, end: number): Buffer {
  const size = at + 4 <= end ? message.readInt32LE(at) : 0;
  if (size < 5 || at + size > end) throw new ProtocolError('a document exceeds its message');
  return message.subarray(at, at + size);
}

/** Encodes the answer to `request`: OP_MSG, or OP_REPLY for a legacy request. */
export function encodeMessage(request: Request, id: number, reply: Uint8Array): Buffer {
  const head = request.legacy ? 36 : 21;
  const message = Buffer.allocUnsafe(head + reply.length);
  message.fill(0, 0, head);
  message.writeInt32LE(message.length, 0);
  message.writeInt32LE(id, 4);
  message.writeInt32LE(request.id, 8);
  message.writeInt32LE(request.legacy ? OP_REPLY : OP_MSG, 12);
  if (request.legacy) {
    message.writeInt32LE(8, 16);
    message.writeInt32LE(1, 32);
  }
  message.set(reply, head);
  return message;
}
