import { MAX_MESSAGE, ProtocolError } from './message.ts';

const HEADER = 16;
/**
 * Memory for a message of up to this many bytes is allocated immediately. For a larger one it is allocated as bytes
 * arrive, so that a length field alone cannot make the engine allocate memory.
 */
const AT_ONCE = 1024 * 1024;

/**
 * Splits the byte stream of a connection into messages. Buffers at most one incomplete message, in at most twice its
 * size in memory, however small the chunks are. Throws ProtocolError on an invalid message length.
 */
export class Framing {
  #pending: Buffer = Buffer.alloc(0);
  #size = 0;

  /** Bytes buffered of an incomplete message. */
  get held(): number {
    return this.#size;
  }

  /** Adds a chunk and returns the messages that are now complete. */
  push(chunk: Buffer): Buffer[] {
    const messages: Buffer[] = [];
    let rest = chunk;
    while (rest.length > 0) {
      const whole = this.#size === 0 && rest.length >= HEADER ? lengthOf(rest) : Number.POSITIVE_INFINITY;
      if (rest.length >= whole) {
        messages.push(rest.subarray(0, whole));
        rest = rest.subarray(whole);
        continue;
      }
      rest = rest.subarray(this.#collect(rest));
      if (this.#size < HEADER || this.#size < lengthOf(this.#pending)) continue;
      messages.push(this.#pending.subarray(0, this.#size));
      this.#pending = Buffer.alloc(0);
      this.#size = 0;
    }
    return messages;
  }

  /** Copies the bytes that belong to the incomplete message, its header first. Returns the number of bytes taken. */
  #collect(bytes: Buffer): number {
    const length = this.#size < HEADER ? HEADER : lengthOf(this.#pending);
    const taken = Math.min(bytes.length, length - this.#size);
    this.#reserve(this.#size + taken, length);
    bytes.copy(this.#pending, this.#size, 0, taken);
    this.#size += taken;
    return taken;
  }

  #reserve(needed: number, length: number): void {
    if (needed <= this.#pending.length) return;
    const capacity = length <= AT_ONCE ? length : Math.min(length, Math.max(AT_ONCE, 2 * this.#pending.length, needed));
    const grown = Buffer.allocUnsafe(capacity);
    this.#pending.copy(grown, 0, 0, this.#size);
    this.#pending = grown;
  }
}

function lengthOf(header: Buffer): number {
  const length = header.readInt32LE(0);
  if (length < HEADER || length > MAX_MESSAGE) throw new ProtocolError(`message length ${length} is out of range`);
  return length;
}
