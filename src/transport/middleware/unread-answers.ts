import type { Context, Middleware } from 'koa';
import { sharerOf } from '../../domain/principal.ts';
import { abandon } from '../abandon.ts';
import type { RequestState } from '../state.ts';
import { whenGone } from '../when-gone.ts';

/** Limit on the bytes of finished answers that clients have not read, of all together. */
const UNREAD_BYTES = 64 * 1024 * 1024;
/** The size from which answers are counted, in bytes. A smaller one costs little more than its connection. */
const COUNTED_BYTES = 64 * 1024;
/** What a request takes without its headers until it is answered, and each header beside its text, bytes. */
const [REQUEST_BYTES, HEADER_BYTES] = [12 * 1024, 100];

/**
 * Limits the memory of finished answers that clients have not read, however slowly they read them. Beyond the limit,
 * the sharer with the most of it loses its oldest, whose connection is reset: the secret keys and people of one
 * tenant cannot cost another its answers, and publishable keys cost neither theirs. The holders of client_secrets share one
 * part (docs/decisions/0031), as do callers without a credential. Streams are not counted: they make as much as their clients read.
 * An answer that waits on its connection behind others counts with its request, which is kept as long.
 */
export function limitUnread(limit = UNREAD_BYTES): Middleware {
  const unread = new UnreadAnswers(limit);
  return async (ctx, next) => {
    try {
      await next();
    } finally {
      count(ctx);
    }
  };

  function count(ctx: Context): void {
    const isQueued = ctx.res.socket === null;
    const bytes = bytesOf(ctx);
    if (bytes < COUNTED_BYTES && !isQueued) return;
    // While a text is sent, Node keeps it and a buffer of three times its length.
    if (typeof ctx.body === 'string') ctx.body = Buffer.from(ctx.body);
    const { identity } = ctx.state as RequestState;
    const sharer = identity && 'principal' in identity ? sharerOf(identity.principal) : '';
    const all = bytes + (isQueued ? requestBytes(ctx) : 0);
    const remove = unread.add(sharer, { bytes: all, drop: () => abandon(ctx.req.socket) });
    whenGone(ctx.res, remove);
  }
}

/** What a request takes until it is answered, bytes. */
function requestBytes({ req: { url = '', rawHeaders } }: Context): number {
  const text = rawHeaders.reduce((sum, { length }) => sum + length, url.length);
  return REQUEST_BYTES + text + (rawHeaders.length / 2) * HEADER_BYTES;
}

/** The bytes that this client will be sent. */
function bytesOf(ctx: Context): number {
  if (ctx.method === 'HEAD') return 0;
  if (ctx.respond === false) return ctx.res.writableLength;
  return ctx.writable && typeof ctx.body === 'string' ? ctx.length : 0;
}

interface Answer {
  readonly bytes: number;
  /** Gives the answer up. */
  drop(): void;
}

/** The answers that clients have not read, by sharer. */
export class UnreadAnswers {
  readonly #limit: number;
  /** The oldest of each sharer first. */
  readonly #sharers = new Map<string, { bytes: number; readonly answers: Set<Answer> }>();
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds an answer and drops others, or itself, while they are more than the limit. @returns a function that removes it */
  add(sharer: string, answer: Answer): () => void {
    const own = this.#sharers.get(sharer) ?? { bytes: 0, answers: new Set() };
    this.#sharers.set(sharer, own);
    own.answers.add(answer);
    own.bytes += answer.bytes;
    this.#bytes += answer.bytes;
    while (this.#bytes > this.#limit) this.#dropOne();
    return () => this.#remove(sharer, answer);
  }

  #dropOne(): void {
    const [sharer, { answers }] = [...this.#sharers].reduce((most, each) =>
      each[1].bytes > most[1].bytes ? each : most,
    );
    const [oldest] = answers as Iterable<Answer> as [Answer];
    this.#remove(sharer, oldest);
    oldest.drop();
  }

  #remove(sharer: string, answer: Answer): void {
    const own = this.#sharers.get(sharer);
    if (!own?.answers.delete(answer)) return;
    own.bytes -= answer.bytes;
    this.#bytes -= answer.bytes;
    if (own.answers.size === 0) this.#sharers.delete(sharer);
  }
}
