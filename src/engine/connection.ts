import type { Socket } from 'node:net';
import type { HeldBytes, Holder } from './held-bytes.ts';
import { Framing } from './wire/framing.ts';
import { encodeMessage, parseMessage, type Request } from './wire/message.ts';

/** While a client has more than this many bytes of answers unread, its next request is not started. */
const MAX_UNREAD_BYTES = 1024 * 1024;
/**
 * While much is buffered for all connections, an answer ends once it has this many bytes of documents. It then has at
 * most 1 MiB plus one document, so a pool of 64 connections stays within its share of the limit with documents of 2
 * MiB.
 */
const SHORT_ANSWER_BYTES = 1024 * 1024;
/** While a connection's queued requests exceed this many bytes, its socket is paused. */
const MAX_QUEUED_BYTES = 48_000_000;
/** While more requests than this are queued, the socket is paused. */
const MAX_QUEUED = 1000;

export interface ConnectionHandler {
  /** Runs a command and returns the encoded answer, immediately or later. */
  run(request: Request, connection: Connection): Uint8Array | Promise<Uint8Array>;
  /** Calls back when the writes behind the last answer are durable, or with the error that lost them. */
  whenDurable(callback: (failure?: Error) => void): void;
  /** Returns the answer that replaces `lost` because its commit failed, immediately or later. */
  afterLoss(
    request: Request,
    connection: Connection,
    lost: Uint8Array,
    failure: Error,
  ): Uint8Array | Promise<Uint8Array>;
}

/** One client connection. Its requests run one after the other; answers go out in order, each after its commit. */
export class Connection implements Holder {
  readonly id: number;
  /** The application name from the driver's first `hello`. */
  appName: string | undefined;
  readonly #socket: Socket;
  readonly #handler: ConnectionHandler;
  readonly #held: HeldBytes;
  readonly #framing = new Framing();
  readonly #queue: Buffer[] = [];
  readonly #onClose = new Set<() => void>();
  #queued = 0;
  /** Bytes of the request that is running. */
  #serving = 0;
  /** Bytes of the documents collected so far for the answer to the running request. */
  #collected = 0;
  #running = false;
  #lastId = 0;

  constructor(id: number, socket: Socket, handler: ConnectionHandler, held: HeldBytes) {
    this.id = id;
    this.#socket = socket;
    this.#handler = handler;
    this.#held = held;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 60_000);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('drain', () => this.#next());
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      for (const callback of this.#onClose) callback();
      this.#onClose.clear();
      this.#queue.length = 0;
      held.set(this, 0);
    });
  }

  /** Registers a callback that runs once when the connection closes. */
  onClose(callback: () => void): void {
    this.#onClose.add(callback);
  }

  offClose(callback: () => void): void {
    this.#onClose.delete(callback);
  }

  /** Closes the connection immediately, without sending pending answers. */
  drop(): void {
    this.#socket.destroy();
  }

  /**
   * Counts a document of the answer that is being collected.
   * @returns whether the answer should end with this document because much is buffered; a cursor keeps the rest
   */
  collect(bytes: number): boolean {
    this.#collected += bytes;
    this.#noteHeld();
    return this.#held.isHigh && this.#collected >= SHORT_ANSWER_BYTES;
  }

  #receive(chunk: Buffer): void {
    try {
      for (const message of this.#framing.push(chunk)) {
        this.#queue.push(message);
        this.#queued += message.length;
      }
    } catch {
      this.drop();
      return;
    }
    this.#next();
  }

  /** Runs at most one request, so that other connections get their turn between two requests of this one. */
  #next(): void {
    const message =
      this.#running || this.#socket.writableLength > MAX_UNREAD_BYTES || this.#socket.destroyed
        ? undefined
        : this.#queue.shift();
    if (message) {
      this.#queued -= message.length;
      this.#serve(message);
    }
    const full = this.#queued > MAX_QUEUED_BYTES || this.#queue.length > MAX_QUEUED;
    if (full && !this.#socket.isPaused()) this.#socket.pause();
    else if (!full && this.#socket.isPaused()) this.#socket.resume();
    this.#noteHeld();
  }

  #noteHeld(): void {
    if (this.#socket.destroyed) return;
    const requests = this.#framing.held + this.#queued + this.#serving;
    this.#held.set(this, requests + this.#collected + this.#socket.writableLength);
  }

  #serve(message: Buffer): void {
    let request: Request;
    try {
      request = parseMessage(message);
    } catch {
      this.drop();
      return;
    }
    this.#running = true;
    this.#serving = message.length;
    this.#collected = 0;
    this.#whenThere(this.#handler.run(request, this), (reply) => this.#finish(request, reply));
  }

  #whenThere(answer: Uint8Array | Promise<Uint8Array>, then: (reply: Uint8Array) => void): void {
    if (answer instanceof Promise) void answer.then(then);
    else then(answer);
  }

  #finish(request: Request, reply: Uint8Array): void {
    this.#handler.whenDurable((failure) => {
      if (!failure) this.#send(request, reply);
      else {
        this.#whenThere(this.#handler.afterLoss(request, this, reply, failure), (instead) =>
          this.#finish(request, instead),
        );
      }
    });
  }

  #send(request: Request, reply: Uint8Array): void {
    this.#running = false;
    this.#serving = 0;
    this.#collected = 0;
    if (!request.silent && !this.#socket.destroyed) {
      this.#socket.write(encodeMessage(request, ++this.#lastId, reply));
    }
    if (this.#queue.length > 0) setImmediate(() => this.#next());
    else this.#noteHeld();
  }

  close(): void {
    this.#socket.end();
    this.#socket.destroySoon();
  }
}
