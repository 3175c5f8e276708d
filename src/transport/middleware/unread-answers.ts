import type { Context, Middleware } from 'koa';
import { sharerOf } from '../../domain/principal.ts';
import { abandon } from '../abandon.ts';
import type { RequestState } from '../state.ts';
import { whenGone } from '../when-gone.ts';

/** Limit on the bytes of finished answers that clients have not read, of all together. */
const UNREAD_BYTES = 64 * 1024 * 1024;
/** The size from which answers are counted, in bytes. A smaller one costs little more than its connection. */
const COUNTED_BYTES = 64 * 1024;

/**
 * Limits the memory of finished answers that clients have not read, however slowly they read them. Beyond the limit,
 * the tenant with the most of it loses its oldest, whose connection is reset: one tenant cannot cost another its
 * answers. Streams are not counted: they make as much as their clients read.
 */
export function limitUnread(limit = UNREAD_BYTES): Middleware {
  const unread = new UnreadAnswers(limit);
  return async (ctx, next) => {
    await next();
    const bytes = bytesOf(ctx);
    if (bytes < COUNTED_BYTES) return;
    // While a text is sent, Node keeps it and a buffer of three times its length.
    if (typeof ctx.body === 'string') ctx.body = Buffer.from(ctx.body);
    const { identity } = ctx.state as RequestState;
    const sharer = identity && 'principal' in identity ? sharerOf(identity.principal) : '';
    const remove = unread.add(sharer, { bytes, drop: () => abandon(ctx.req.socket) });
    whenGone(ctx.res, remove);
  };
}

function bytesOf(ctx: Context): number {
  if (ctx.respond === false) return ctx.res.writableLength;
  return typeof ctx.body === 'string' ? ctx.length : 0;
}

interface Answer {
  readonly bytes: number;
  /** Gives the answer up. */
  drop(): void;
}

/** The answers that clients have not read, by tenant. */
export class UnreadAnswers {
  readonly #limit: number;
  /** The oldest of each tenant first. */
  readonly #answers = new Map<string, Set<Answer>>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds an answer and drops others, or itself, while they are more than the limit. @returns a function that removes it */
  add(sharer: string, answer: Answer): () => void {
    const own = this.#answers.get(sharer) ?? new Set();
    this.#answers.set(sharer, own.add(answer));
    while (this.#dropOne());
    return () => this.#remove(sharer, answer);
  }

  /** @returns whether the limit was exceeded */
  #dropOne(): boolean {
    const sums = [...this.#answers].map(([sharer, answers]) => ({ sharer, answers, bytes: sumOf(answers) }));
    if (sums.reduce((sum, { bytes }) => sum + bytes, 0) <= this.#limit) return false;
    const { sharer, answers } = sums.reduce((most, each) => (each.bytes > most.bytes ? each : most));
    const [oldest] = answers;
    if (!oldest) return false;
    this.#remove(sharer, oldest);
    oldest.drop();
    return true;
  }

  #remove(sharer: string, answer: Answer): void {
    const answers = this.#answers.get(sharer);
    answers?.delete(answer);
    if (answers?.size === 0) this.#answers.delete(sharer);
  }
}

function sumOf(answers: ReadonlySet<Answer>): number {
  let sum = 0;
  for (const { bytes } of answers) sum += bytes;
  return sum;
}
