import { connect, type Socket } from 'node:net';
import { type Document, deserialize, serialize } from 'bson';

/** A minimal client of MongoDB's wire protocol, for messages that the driver would never send. */
export class WireClient {
  readonly #socket: Socket;
  /** The bytes received and not consumed, which are joined when an answer is complete. */
  #received: Buffer[] = [];
  #size = 0;
  #closed = false;
  #wake: () => void = () => {};
  #id = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => {
      this.#received.push(chunk);
      this.#size += chunk.length;
      this.#wake();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#closed = true;
      this.#wake();
    });
  }

  /** Connects to the server of a `mongodb://` URI. */
  static async connect(uri: string): Promise<WireClient> {
    const host = decodeURIComponent(/^mongodb:\/\/([^/?,]+)/.exec(uri)![1]!);
    const [name, port] = host.split(':');
    const socket = host.startsWith('/') ? connect(host) : connect(Number(port), name);
    await new Promise<void>((resolve, reject) => socket.once('connect', () => resolve()).once('error', reject));
    return new WireClient(socket);
  }

  send(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  /** Sends a command as OP_MSG and returns its answer. */
  async command(body: Document, options: MessageOptions = {}): Promise<Document> {
    this.send(this.message(body, options));
    return this.reply();
  }

  message(body: Document, options: MessageOptions = {}): Buffer {
    return opMsg(++this.#id, body, options);
  }

  /** Returns the document of the next answer; rejects when the server closes the connection instead. */
  async reply(): Promise<Document> {
    while (this.#size < 4 || this.#size < this.#length()) {
      if (this.#closed) throw new Error('connection closed');
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const length = this.#length();
    const received = Buffer.concat(this.#received);
    const message = received.subarray(0, length);
    this.#received = [received.subarray(length)];
    this.#size -= length;
    return deserialize(message.subarray(message.readInt32LE(12) === 1 ? 36 : 21));
  }

  /** Returns the length of the next answer, of which at least four bytes have been received. */
  #length(): number {
    if ((this.#received[0]?.length ?? 0) < 4) this.#received = [Buffer.concat(this.#received)];
    return this.#received[0]!.readInt32LE(0);
  }

  /** Resolves when the server has closed the connection. */
  async closed(): Promise<void> {
    if (!this.#closed) await new Promise<void>((resolve) => this.#socket.once('close', () => resolve()));
  }

  /** Stops reading from the connection. */
  pause(): void {
    this.#socket.pause();
  }

  /** Whether an answer has begun to arrive since `pause`. */
  get isAnswered(): boolean {
    return this.#socket.readableLength > 0;
  }

  resume(): void {
    this.#socket.resume();
  }

  close(): void {
    this.#socket.destroy();
  }
}

export interface MessageOptions {
  flags?: number;
  /** Document sequences by name. */
  sequences?: Record<string, Document[]>;
  /** Appended after the sections, such as a checksum. */
  trailer?: (message: Buffer) => Buffer;
}

/** The bytes of an OP_MSG. */
export function opMsg(id: number, body: Document, { flags = 0, sequences = {}, trailer }: MessageOptions = {}): Buffer {
  const parts: Uint8Array[] = [Buffer.alloc(20), Buffer.from([0]), serialize(body)];
  for (const [name, documents] of Object.entries(sequences)) {
    const content = Buffer.concat([Buffer.from(`${name}\0`), ...documents.map((document) => serialize(document))]);
    const head = Buffer.alloc(5);
    head[0] = 1;
    head.writeInt32LE(content.length + 4, 1);
    parts.push(head, content);
  }
  const tail = trailer ? 4 : 0;
  const message = Buffer.concat(parts);
  message.writeInt32LE(message.length + tail, 0);
  message.writeInt32LE(id, 4);
  message.writeInt32LE(2013, 12);
  message.writeUInt32LE(flags, 16);
  return trailer ? Buffer.concat([message, trailer(message)]) : message;
}
