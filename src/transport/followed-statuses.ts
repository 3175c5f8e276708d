import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import type { Authenticate } from '../domain/api-key/authenticate.ts';
import type { RateLimiter } from '../domain/api-key/rate-limiter.ts';
import { ServiceError, serviceError } from '../domain/errors.ts';
import { exactly, problemsOf } from '../domain/input-problems.ts';
import { kindOfId } from '../domain/invoice/kinds.ts';
import type { StatusChanges, WatchInvoice } from '../domain/invoice/watch-invoice.ts';
import { createBell } from '../domain/kit/bell.ts';
import { type ClientPrincipal, callerOf } from '../domain/principal.ts';
import { readJson } from './body.ts';
import type { EventStreams } from './event-stream.ts';
import { messageOf } from './open-stream.ts';
import { whenGone } from './when-gone.ts';

/** Maximum number of invoices of one stream, and the maximum size of its request in bytes. */
const [MOST_FOLLOWED, MOST_BYTES] = [100, 64 * 1024];

/** The tokens of pages without an account: the client_secret of a document, which begins with its id, or an embed's. */
const PAGE_TOKEN = /^(inv|crn|emb)_/;

const text = z.string().max(400);
const followed = exactly({ id: text, token: text, after: text.nullable() }, 'an invoice to follow');
const request = exactly({ invoices: z.array(followed).min(1).max(MOST_FOLLOWED) }, 'the invoices to follow');

export interface FollowParts {
  readonly authenticate: Authenticate;
  readonly limiter: RateLimiter;
  readonly streams: EventStreams;
  readonly watchInvoice: WatchInvoice;
}

/**
 * Why an invoice of the request is not followed: its token does not open it or no longer does, or its rate limit
 * refuses it for `later` seconds.
 */
type Unfollowed = { readonly refused: true } | { readonly later: number };

const REFUSED = { refused: true } as const;

/** A message about the nth invoice of the request: a new status, or that it is no longer followed. */
type News =
  | { readonly n: number; readonly eventId: string; readonly status: string }
  | ({ readonly n: number } & Unfollowed);

/** An invoice whose token was accepted. */
interface Source {
  readonly principal: ClientPrincipal;
  readonly changes: StatusChanges;
}

/**
 * POST /embed/api/statuses: the status changes of several invoices over one stream, for frames and windows of a browser
 * that share it (docs/decisions/0064). Each invoice has a token of its own, a client_secret or the token of an embedded
 * page, and counts for that token's rate limit. A failure of one invoice does not end the others.
 * @throws {ServiceError} invalid_request. If no invoice can be followed: rate_limit_exceeded, with `Retry-After`, if
 * one can be later, otherwise invalid_api_key (401)
 */
export function followStatuses({ authenticate, limiter, streams, watchInvoice }: FollowParts): Middleware {
  async function open(ctx: Context, { id, token, after }: z.output<typeof followed>): Promise<Source | Unfollowed> {
    // API keys open more than one invoice, and pages without an account must not use them.
    if (!PAGE_TOKEN.test(token)) return REFUSED;
    try {
      const { secure: encrypted, ip: address, host } = ctx;
      const principal = await authenticate(`Bearer ${token}`, { encrypted, address, host, forwarded: false });
      if (principal.kind !== 'client') return REFUSED;
      const { allowed, resetAt } = await limiter.consume('publishable', callerOf(principal), 1);
      if (!allowed) return { later: Math.max(1, Math.ceil((resetAt - Date.now()) / 1000)) };
      return { principal, changes: await watchInvoice(principal, id, null, after, kindOfId(id) ?? undefined) };
    } catch (error) {
      if (error instanceof ServiceError && [401, 403, 404].includes(error.status)) return REFUSED;
      throw error;
    }
  }

  return async (ctx) => {
    const parsed = request.safeParse(await readJson(ctx, MOST_BYTES));
    if (!parsed.success) throw new ServiceError(problemsOf(parsed.error));
    const opened = await Promise.allSettled(parsed.data.invoices.map((each) => open(ctx, each)));
    const sources = opened.map((each) => (each.status === 'fulfilled' ? each.value : REFUSED));
    const news = merged(sources, streams.whenRevoked);
    whenGone(ctx.res, () => void news.return?.());
    const followed = sources.filter((each) => 'principal' in each);
    // The stream counts for one of the invoices. An invoice that has its maximum of streams must not block the others.
    const carrier = followed.find((each) => streams.hasPlace(each.principal)) ?? followed[0];
    const failed = opened.find((each) => each.status === 'rejected');
    if (failed || !carrier) {
      await news.return?.();
      throw failed ? failed.reason : refusalOf(ctx, sources);
    }
    const print = (each: News) => messageOf(`data: ${JSON.stringify(each)}\n\n`);
    // A token that ends takes only its own invoice out of the stream.
    streams.open(ctx, carrier.principal, { values: news, print, isShared: true });
  };
}

/** Returns the error for a request of which no invoice can be followed. */
function refusalOf(ctx: Context, sources: readonly (Source | Unfollowed)[]): ServiceError {
  const waits = sources.flatMap((each) => ('later' in each ? [each.later] : []));
  if (waits.length === 0) return serviceError('invalid_api_key', 'No token opens its invoice.');
  ctx.set('Retry-After', String(Math.min(...waits)));
  return serviceError('rate_limit_exceeded', 'The invoices are asked for too often.');
}

/**
 * Merges the changes of all sources in the order of arrival. At most one change of each source waits. Ends with the
 * last source.
 * @param whenRevoked as in {@link EventStreams}
 */
function merged(
  sources: readonly (Source | Unfollowed)[],
  whenRevoked: EventStreams['whenRevoked'],
): AsyncIterator<News, undefined> {
  const waiting: News[] = [];
  const ended = new Set<number>();
  const bell = createBell();
  let failure: { readonly error: unknown } | null = null;
  const put = (news: News): void => {
    waiting.push(news);
    bell.ring();
  };
  const unfollow = sources.map((source, n) =>
    'principal' in source ? whenRevoked(source.principal, () => refuse(n)) : () => undefined,
  );
  const end = (n: number): void => {
    const source = sources[n];
    if (source && 'changes' in source) void source.changes.return?.();
    ended.add(n);
    unfollow[n]?.();
    bell.ring();
  };
  function refuse(n: number): void {
    if (ended.has(n)) return;
    put({ n, ...REFUSED });
    end(n);
  }
  const pull = (n: number, { changes }: Source): void => {
    changes.next().then(
      (result) => {
        if (result.value === 'erased') refuse(n);
        else if (result.done) end(n);
        else put({ n, eventId: result.value.event.id, status: result.value.event.status });
      },
      (error: unknown) => {
        failure = { error };
        bell.ring();
      },
    );
  };
  for (const [n, source] of sources.entries()) {
    if ('principal' in source) pull(n, source);
    else {
      ended.add(n);
      waiting.push({ n, ...source });
    }
  }
  return {
    async next() {
      for (;;) {
        if (failure) throw failure.error;
        const news = waiting.shift();
        if (news) {
          const source = sources[news.n];
          if (source && 'principal' in source && 'eventId' in news) pull(news.n, source);
          return { done: false, value: news };
        }
        if (ended.size === sources.length) return { done: true, value: undefined };
        await bell.heard();
      }
    },
    /** May be called while `next` waits. */
    async return() {
      for (const n of sources.keys()) end(n);
      return { done: true, value: undefined };
    },
  };
}
