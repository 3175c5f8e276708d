import type { ServerResponse } from 'node:http';
import type { MemoryBudget } from '../domain/kit/memory-budget.ts';
import { callerOf, type Principal, sharerOf } from '../domain/principal.ts';
import { abandonAnswer } from './abandon.ts';
import { COUNTED_BYTES } from './unread-answers.ts';
import { whenGone } from './when-gone.ts';

/** How long a client may take to read the rest of an ended stream, milliseconds. */
const LINGER_MS = 5000;
const COMMENT = Buffer.from(':\n\n');
const COMMENT_CHUNK = chunkOf(COMMENT);

/** The bytes of a message: plain for HTTP/1.0, and as a chunk of a chunked answer (RFC 9112, section 7.1). */
export interface Message {
  readonly bytes: Buffer;
  readonly chunk: Buffer;
}

/**
 * Encodes messages.
 * @param text messages with JSON data; their line ends are escaped
 * @returns null for an empty text, which is no message
 */
export function messageOf(text: string): Message | null {
  if (text === '') return null;
  const bytes = withEscapedLineEnds(Buffer.from(text));
  return { bytes, chunk: chunkOf(bytes) };
}

const LINE_ENDS = ['\u0085', '\u2028', '\u2029'].map((end) => ({
  bytes: Buffer.from(end),
  escaped: `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`,
  end,
}));

/**
 * Escapes U+0085, U+2028 and U+2029, which occur in JSON strings only. The protocol does not treat them as line ends,
 * but many clients do. Without any of them the bytes are returned as they are, because a large answer takes MBs.
 */
export function withEscapedLineEnds(messages: Buffer): Buffer {
  const found = LINE_ENDS.filter(({ bytes }) => messages.includes(bytes));
  if (found.length === 0) return messages;
  return Buffer.from(found.reduce((text, { end, escaped }) => text.replaceAll(end, escaped), messages.toString()));
}

/** The source of a stream's messages. */
export interface Source<Value> {
  readonly values: AsyncIterator<Value>;
  /** Converts a value to messages with JSON data and escaped line ends; null for no message. */
  readonly print: (value: Value) => Message | null;
  /** Whether the values come from several credentials, and end with the last of them, not with the caller's. */
  readonly isShared?: boolean;
  /** Messages after the last value. Not sent if the stream ends earlier. */
  readonly last?: string;
}

/** An open answer of the type `text/event-stream` (WHATWG HTML, section 9.2). */
export interface EventStream {
  /** Resolves when the client has read what was sent, or has disconnected. */
  ready(): Promise<void>;
  /** Whether nothing more can be sent, because the stream was ended or the client has disconnected. */
  readonly isOver: boolean;
  /** Ends the answer after sending all messages. @param last messages to send before the end */
  end(last?: string): void;
  /** Closes the connection immediately, even if the client has unread data. */
  reset(): void;
}

function chunkOf(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

/**
 * An answer that is an event stream. It is a class, not closures, and has no timer of its own, because a process holds
 * tens of thousands of them (`npm run bench streams`).
 */
export class OpenStream implements EventStream {
  readonly #res: ServerResponse;
  readonly #chunked: boolean;
  readonly #counted: MemoryBudget;
  readonly #principal: Principal;
  #unread: PromiseWithResolvers<void> | null = null;
  #uncount: (() => void) | null = null;
  #stalled = false;

  /**
   * @param res an answer whose head has been written
   * @param counted counts a long message for its sharer until it is read, and resets the stream when the limit is
   * exceeded
   */
  constructor(res: ServerResponse, counted: MemoryBudget, principal: Principal) {
    this.#res = res;
    this.#counted = counted;
    this.#principal = principal;
    this.#chunked = res.chunkedEncoding;
    // This class frames a message once for all readers. Node would frame it for each.
    res.chunkedEncoding = false;
    // Some browsers do not report an answer before its first bytes.
    res.write(this.#chunked ? COMMENT_CHUNK : COMMENT);
  }

  get isOver(): boolean {
    return this.#res.writableEnded || this.#res.destroyed;
  }

  async ready(): Promise<void> {
    if (!this.#res.writableNeedDrain || this.isOver) return;
    if (!this.#unread) {
      this.#unread = Promise.withResolvers();
      this.#res.once('drain', () => this.release());
    }
    await this.#unread.promise;
  }

  /** Resumes the code that waits for the client, because the client has read everything sent or is gone. */
  release(): void {
    this.#unread?.resolve();
    this.#unread = null;
    this.#uncount?.();
    this.#uncount = null;
    this.#stalled = false;
  }

  /**
   * Sends a heartbeat. If the client has unread data and has read nothing since the last call, the stream is reset
   * instead. The client can resume.
   */
  beat(): void {
    if (this.isOver) return;
    if (!this.#res.writableNeedDrain) {
      this.#stalled = false;
      this.#res.write(this.#chunked ? COMMENT_CHUNK : COMMENT);
    } else if (this.#stalled) this.reset();
    else {
      this.#stalled = true;
      // Also notices that the client reads while no caller awaits `ready`.
      void this.ready();
    }
  }

  /** Counts what the client has not read until `release` is called. */
  #count(): void {
    const bytes = this.#res.writableLength;
    if (bytes < COUNTED_BYTES) return;
    this.#uncount?.();
    this.#uncount = this.#counted.add(
      sharerOf(this.#principal),
      { bytes, drop: () => this.reset() },
      callerOf(this.#principal),
    );
  }

  reset(): void {
    abandonAnswer(this.#res);
  }

  end(last = ''): void {
    const res = this.#res;
    if (this.isOver) return;
    res.chunkedEncoding = this.#chunked;
    res.end(last);
    const timer = setTimeout(() => this.reset(), LINGER_MS).unref();
    whenGone(res, () => clearTimeout(timer));
  }

  /**
   * Sends the values as they arrive, then ends. The next value is requested when the client has read the previous ones.
   * @param report receives the error of the source
   */
  send<Value>(source: Source<Value>, report: (error: unknown) => void): void {
    const failed = (error: unknown) => {
      report(error);
      this.end();
    };
    // Not an async function, because each stream would keep its suspended state. Only one promise per value, because an
    // event goes to thousands of streams.
    const take = (result: IteratorResult<Value>): void => {
      if (this.isOver) return;
      try {
        if (result.done) this.end(source.last);
        else {
          const message = source.print(result.value);
          if (message) this.#res.write(this.#chunked ? message.chunk : message.bytes);
        }
      } catch (error) {
        failed(error);
      }
      // `request` does nothing once the stream has ended.
      if (this.#res.writableNeedDrain) {
        void this.ready().then(request);
        this.#count();
      } else request();
    };
    const request = (): void => {
      if (this.isOver) return;
      try {
        source.values.next().then(take, failed);
      } catch (error) {
        failed(error);
      }
    };
    request();
  }
}
