import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import type { Authenticate } from '../domain/api-key/authenticate.ts';
import type { RateLimiter } from '../domain/api-key/rate-limiter.ts';
import { ServiceError, serviceError } from '../domain/errors.ts';
import { exactly, problemsOf } from '../domain/input-problems.ts';
import type { StatusChange, WatchInvoice } from '../domain/invoice/watch-invoice.ts';
import { type ClientPrincipal, callerOf } from '../domain/principal.ts';
import { readJson } from './body.ts';
import type { EventStreams } from './event-stream.ts';
import { messageOf } from './open-stream.ts';
import { whenGone } from './when-gone.ts';

/** Invoices of one stream at most, and bytes of a request for as many. */
const [MOST_FOLLOWED, MOST_BYTES] = [100, 64 * 1024];

const text = z.string().max(400);
const followed = exactly({ id: text, token: text, after: text.nullable() }, 'an invoice to follow');
const request = exactly({ invoices: z.array(followed).min(1).max(MOST_FOLLOWED) }, 'the invoices to follow');

export interface FollowParts {
  readonly authenticate: Authenticate;
  readonly limiter: RateLimiter;
  readonly streams: EventStreams;
  readonly watchInvoice: WatchInvoice;
}

/** A message: what is new of the nth invoice of the request. `refused`: its token opens it no more, or never did. */
type News =
  | { readonly n: number; readonly eventId: string; readonly status: string }
  | { readonly n: number; readonly refused: true };

/** An invoice whose token was accepted. */
interface Source {
  readonly principal: ClientPrincipal;
  readonly changes: AsyncIterator<StatusChange>;
}

/**
 * POST /embed/api/statuses: the status changes of several invoices over one stream, for frames and windows of a browser
 * that share it (docs/decisions/0064). Each invoice is opened by a token of its own, a client_secret or that of an embedded
 * page, and counts for that token's rate limit.
 * @throws {ServiceError} invalid_api_key (401) if no token is accepted; rate_limit_exceeded; invalid_request
 */
export function followStatuses({ authenticate, limiter, streams, watchInvoice }: FollowParts): Middleware {
  /** @returns null if the token does not open the invoice */
  async function open(ctx: Context, { id, token, after }: z.output<typeof followed>): Promise<Source | null> {
    // Keys open more than one invoice, and are no business of pages without an account.
    if (!/^(inv|emb)_/.test(token)) return null;
    try {
      const { secure: encrypted, ip: address, host } = ctx;
      const principal = await authenticate(`Bearer ${token}`, { encrypted, address, host, forwarded: false });
      if (principal.kind !== 'client') return null;
      const limit = await limiter.consume('publishable', callerOf(principal), 1);
      if (!limit.allowed) throw serviceError('rate_limit_exceeded', 'An invoice is asked for too often.');
      return { principal, changes: await watchInvoice(principal, id, null, after) };
    } catch (error) {
      if (error instanceof ServiceError && [401, 403, 404].includes(error.status)) return null;
      throw error;
    }
  }

  return async (ctx) => {
    const parsed = request.safeParse(await readJson(ctx, MOST_BYTES));
    if (!parsed.success) throw new ServiceError(problemsOf(parsed.error));
    const opened = await Promise.allSettled(parsed.data.invoices.map((each) => open(ctx, each)));
    const sources = opened.map((each) => (each.status === 'fulfilled' ? each.value : null));
    const news = merged(sources, streams.whenRevoked);
    whenGone(ctx.res, () => void news.return?.());
    const failed = opened.find((each) => each.status === 'rejected');
    const first = sources.find((each) => each !== null);
    if (failed || !first) {
      await news.return?.();
      throw failed ? failed.reason : serviceError('invalid_api_key', 'No token opens its invoice.');
    }
    // Each token ends its own invoice, so the stream has no end of its own.
    const principal: ClientPrincipal = { kind: 'client', invoiceId: first.principal.invoiceId };
    streams.open(ctx, principal, { values: news, print: (each) => messageOf(`data: ${JSON.stringify(each)}\n\n`) });
  };
}

/**
 * The changes of all sources as they come; one change of a source waits at most. It ends with the last source.
 * @param whenRevoked as in {@link EventStreams}
 */
function merged(
  sources: readonly (Source | null)[],
  whenRevoked: EventStreams['whenRevoked'],
): AsyncIterator<News, undefined> {
  const waiting: News[] = [];
  const ended = new Set<number>();
  let wake = (): void => undefined;
  let failure: { readonly error: unknown } | null = null;
  const put = (news: News): void => {
    waiting.push(news);
    wake();
  };
  const unfollow = sources.map((source, n) => {
    if (!source) return () => undefined;
    return whenRevoked(source.principal, () => {
      put({ n, refused: true });
      void source.changes.return?.();
    });
  });
  const end = (n: number): void => {
    ended.add(n);
    unfollow[n]?.();
    wake();
  };
  const pull = (n: number, { changes }: Source): void => {
    changes.next().then(
      (result) => {
        if (result.done) return end(n);
        const { id: eventId, status } = result.value.event;
        put({ n, eventId, status });
      },
      (error: unknown) => {
        failure = { error };
        wake();
      },
    );
  };
  for (const [n, source] of sources.entries()) {
    if (source) pull(n, source);
    else {
      ended.add(n);
      waiting.push({ n, refused: true });
    }
  }
  return {
    async next() {
      for (;;) {
        if (failure) throw failure.error;
        const news = waiting.shift();
        if (news) {
          const source = sources[news.n];
          if (source && !('refused' in news)) pull(news.n, source);
          return { done: false, value: news };
        }
        if (ended.size === sources.length) return { done: true, value: undefined };
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    /** May be called while `next` waits. */
    async return() {
      for (const [n, source] of sources.entries()) {
        void source?.changes.return?.();
        end(n);
      }
      return { done: true, value: undefined };
    },
  };
}
