import { MAX_MESSAGE, ProtocolError } from './message.ts';

/**
 * Cuts a connection's byte stream into messages. Holds at most one message's bytes.
 * Throws ProtocolError on a length that no message has.
 */
export class Framing {
  #chunks: Buffer[] = [];
  #size = 0;

  /** Adds bytes and gives back every message that is complete now. */
  push(chunk: Buffer): Buffer[] {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    const messages: Buffer[] = [];
    for (let length = this.#nextLength(); length !== undefined && this.#size >= length; length = this.#nextLength()) {
      messages.push(this.#take(length));
    }
    return messages;
  }

  #nextLength(): number | undefined {
    if (this.#size < 16) return undefined;
    if ((this.#chunks[0] as Buffer).length < 16) this.#chunks = [Buffer.concat(this.#chunks)];
    const length = (this.#chunks[0] as Buffer).readInt32LE(0);
    if (length < 16 || length > MAX_MESSAGE) throw new ProtocolError(`message length ${length} is out of range`);
    return length;
  }

  #take(length: number): Buffer {
    const all = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
    const rest = all.subarray(length);
    this.#chunks = rest.length > 0 ? [rest] : [];
    this.#size = rest.length;
    return all.subarray(0, length);
  }
}
