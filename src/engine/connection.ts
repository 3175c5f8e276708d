import type { Socket } from 'node:net';
import { Framing } from './wire/framing.ts';
import { encodeMessage, parseMessage, type Request } from './wire/message.ts';

/** Answers of this many bytes may wait for a slow client before its requests do. */
const HIGH_WATER = 64 * 1024 * 1024;

export interface ConnectionHandler {
  /** The encoded answer, at once or later. */
  run(request: Request, connection: Connection): Uint8Array | Promise<Uint8Array>;
  /** Calls back when what was answered is durable; gives an answer to send instead when it could not be made so. */
  whenDurable(callback: (instead?: Uint8Array) => void): void;
}

/** One client: its requests are run one after the other, answers go out in order and not before they are durable. */
export class Connection {
  readonly id: number;
  readonly #socket: Socket;
  readonly #handler: ConnectionHandler;
  readonly #framing = new Framing();
  readonly #queue: Buffer[] = [];
  readonly #onClose = new Set<() => void>();
  #running = false;
  #lastId = 0;

  constructor(id: number, socket: Socket, handler: ConnectionHandler) {
    this.id = id;
    this.#socket = socket;
    this.#handler = handler;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 60_000);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      for (const callback of this.#onClose) callback();
      this.#onClose.clear();
      this.#queue.length = 0;
    });
  }

  /** Calls back once when the client is gone. */
  onClose(callback: () => void): void {
    this.#onClose.add(callback);
  }

  offClose(callback: () => void): void {
    this.#onClose.delete(callback);
  }

  #receive(chunk: Buffer): void {
    try {
      this.#queue.push(...this.#framing.push(chunk));
    } catch {
      this.#socket.destroy();
      return;
    }
    this.#next();
  }

  #next(): void {
    while (!this.#running) {
      const message = this.#queue.shift();
      if (!message || this.#socket.destroyed) return;
      this.#serve(message);
    }
  }

  #serve(message: Buffer): void {
    let request: Request;
    try {
      request = parseMessage(message);
    } catch {
      this.#socket.destroy();
      return;
    }
    this.#running = true;
    const answer = this.#handler.run(request, this);
    if (answer instanceof Promise) void answer.then((reply) => this.#finish(request, reply)).then(() => this.#next());
    else this.#finish(request, answer);
  }

  #finish(request: Request, reply: Uint8Array): void {
    this.#handler.whenDurable((instead) => {
      this.#running = false;
      if (!request.silent && !this.#socket.destroyed) this.#send(request, instead ?? reply);
      this.#next();
    });
  }

  #send(request: Request, reply: Uint8Array): void {
    this.#socket.write(encodeMessage(request, ++this.#lastId, reply));
    if (this.#socket.writableLength > HIGH_WATER) {
      this.#socket.pause();
      this.#socket.once('drain', () => this.#socket.resume());
    }
  }

  close(): void {
    this.#socket.end();
    this.#socket.destroySoon();
  }
}
