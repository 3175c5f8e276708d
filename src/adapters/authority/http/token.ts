import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SignJWT } from 'jose';
import { z } from 'zod';
import type { Answer, Connection, Exchange } from './connection.ts';
import type { AssertionKey, CredentialStore } from './credentials.ts';
import { retryAfterOf } from './retry-after.ts';
import { createServerClock, LOCAL_CLOCK, type LocalClock, type ServerClock } from './server-clock.ts';

export interface TokenSettings {
  /** DGI_TOKEN_URL. Also the audience of the assertions. */
  readonly url: string;
  /** DGI_CLIENT_ID. */
  readonly clientId: string;
}

/** No token could be obtained. Nothing was sent to the authority. */
export interface NoToken {
  readonly kind: 'no_token';
  readonly requestId: string | null;
  readonly message: string;
  readonly retryAfterMs: number | null;
}

export type TokenAnswer = { readonly kind: 'token'; readonly token: string } | NoToken;

export interface TokenState {
  /** Time until the token expires, by the clock of the token endpoint, milliseconds; null without a token. */
  readonly endsInMs: number | null;
  readonly renewals: number;
  readonly failures: number;
}

export interface TokenParts {
  readonly connection: Connection;
  readonly credentials: CredentialStore;
  /** The clock that is used until the token endpoint has responded once. */
  readonly authorityClock: ServerClock;
  readonly local?: LocalClock;
  /** Time limit for each request for a token, milliseconds. Default {@link ANSWER_MS}. */
  readonly answerTimeoutMs?: number;
}

/**
 * Default time limit for a request for a token, milliseconds. Without a valid token, every call waits for this one
 * request. So the limit is shorter than that of the authority's responses: one hanging request must not stop a worker
 * for long.
 */
const ANSWER_MS = 10_000;

const MAX_ANSWER_BYTES = 256 * 1024;
const ASSERTION_SECONDS = 60;
/**
 * The assertion is dated back by this much: the server's clock is known to about a second, and the start must not be in
 * its future.
 */
const BACKDATED_SECONDS = 5;
/** A refused assertion is made again if the clock used for it was wrong by more than this, milliseconds. */
const CLOCK_TOLERANCE_MS = 5000;
/** A token is renewed in the last fifth of its lifetime, but at most this long before it expires, milliseconds. */
const RENEWAL_MS = 60_000;
/** How long calls wait for a renewal while the old token is still valid, milliseconds from the start of the renewal. */
const RENEWAL_PATIENCE_MS = 2000;
/** Lifetime of a token whose response does not state it (RFC 6749, section 5.1, recommends `expires_in`). */
const DEFAULT_LIFE_SECONDS = 300;

const tokenBody = z.object({
  access_token: z.string().regex(/^[\x21-\x7e]{1,16384}$/),
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.number().positive().max(31_536_000).default(DEFAULT_LIFE_SECONDS),
});
const errorBody = z.object({ error: z.string().max(200), error_description: z.string().max(1000).optional() });

interface Token {
  readonly value: string;
  /** When to renew it, by the server's clock, milliseconds. */
  readonly renewAt: number;
  readonly endsAt: number;
}

/**
 * Obtains the access tokens of this process: OAuth 2 client credentials with `private_key_jwt` (RFC 6749, section 4.4;
 * RFC 7523, section 2.2).
 */
export function createTokenSource(settings: TokenSettings, parts: TokenParts) {
  const { connection, credentials, authorityClock, local = LOCAL_CLOCK, answerTimeoutMs = ANSWER_MS } = parts;
  const clock = createServerClock(local, authorityClock);
  const url = new URL(settings.url);
  let current: Token | null = null;
  let renewing: Promise<TokenAnswer> | null = null;
  let renewingSince = 0;
  let renewals = 0;
  let failures = 0;

  async function ask(): Promise<Exchange> {
    const { assertionKey } = await credentials.current();
    if (assertionKey === null) throw new Error('DGI_TOKEN_URL is set without DGI_CLIENT_KEY');
    const assertion = await signAssertion(settings, assertionKey, clock.now());
    const exchange = await connection.exchange({
      url,
      method: 'POST',
      maxAnswerBytes: MAX_ANSWER_BYTES,
      answerTimeoutMs,
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: Buffer.from(
        new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: settings.clientId,
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: assertion,
        }).toString(),
      ),
    });
    if (exchange.kind === 'answer') clock.learn(exchange.headers.get('date'), exchange.latencyMs);
    return exchange;
  }

  async function renew(): Promise<TokenAnswer> {
    const usedOffset = clock.now() - local.monotonic();
    const usedKey = (await credentials.current()).assertionKey;
    let exchange = await ask();
    if (isRefusal(exchange)) {
      // A wrong clock or a rotated key may be the cause. Then tries once more with the corrected clock or new key.
      const clockWasWrong = Math.abs(clock.now() - local.monotonic() - usedOffset) > CLOCK_TOLERANCE_MS;
      const keyChanged = (await credentials.recheck()).assertionKey !== usedKey;
      if (clockWasWrong || keyChanged) exchange = await ask();
    }
    const outcome = tokenOf(exchange, clock.now());
    if (outcome.kind === 'no_token') {
      failures++;
      // The old token is still valid.
      return current && clock.now() < current.endsAt ? { kind: 'token', token: current.value } : outcome;
    }
    renewals++;
    current = outcome.token;
    return { kind: 'token', token: current.value };
  }

  return {
    /** Returns a valid token. Concurrent calls share one request. A token is renewed before it expires. */
    async token(): Promise<TokenAnswer> {
      if (current && clock.now() < current.renewAt) return { kind: 'token', token: current.value };
      if (renewing === null) {
        renewingSince = local.monotonic();
        renewing = renew().finally(() => {
          renewing = null;
        });
      }
      if (current === null || clock.now() >= current.endsAt) return renewing;
      // A token endpoint that does not respond must not delay calls that have a valid token.
      const patience = Math.max(0, renewingSince + RENEWAL_PATIENCE_MS - local.monotonic());
      const old = { kind: 'token', token: current.value } as const;
      return Promise.race([renewing, sleep(patience, old, { ref: false })]);
    },
    /** Discards a token that the authority refused, unless there is a newer one. */
    refused(token: string): void {
      if (current?.value === token) current = null;
    },
    /** Returns the state of the tokens, for operators. */
    state: (): TokenState => ({ endsInMs: current && Math.max(0, current.endsAt - clock.now()), renewals, failures }),
  };
}

/** Makes an assertion. @param now the server's time, milliseconds */
function signAssertion(
  { url, clientId }: TokenSettings,
  { key, algorithm }: AssertionKey,
  now: number,
): Promise<string> {
  const from = Math.floor(now / 1000) - BACKDATED_SECONDS;
  return new SignJWT()
    .setProtectedHeader({ alg: algorithm, typ: 'JWT' })
    .setIssuer(clientId)
    .setSubject(clientId)
    .setAudience(url)
    .setJti(randomUUID())
    .setIssuedAt(from)
    .setNotBefore(from)
    .setExpirationTime(from + BACKDATED_SECONDS + ASSERTION_SECONDS)
    .sign(key);
}

function isRefusal(exchange: Exchange): boolean {
  return exchange.kind === 'answer' && (exchange.status === 400 || exchange.status === 401);
}

function tokenOf(exchange: Exchange, now: number): { readonly kind: 'token'; readonly token: Token } | NoToken {
  if (exchange.kind !== 'answer') return noToken(exchange.requestId, exchange.message, null);
  const { requestId, status } = exchange;
  const body = jsonOf(exchange);
  const granted = status === 200 ? tokenBody.safeParse(body) : null;
  if (granted?.success) {
    const { access_token: value, expires_in: seconds } = granted.data;
    const life = seconds * 1000;
    return {
      kind: 'token',
      token: { value, endsAt: now + life, renewAt: now + life - Math.min(RENEWAL_MS, life / 5) },
    };
  }
  const refused = errorBody.safeParse(body);
  const why = refused.success
    ? `${refused.data.error}${refused.data.error_description ? `: ${refused.data.error_description}` : ''}`
    : 'no token in the answer';
  return noToken(requestId, `status ${status}, ${why}`, retryAfterOf(exchange));
}

function noToken(requestId: string, why: string, retryAfterMs: number | null): NoToken {
  return {
    kind: 'no_token',
    requestId,
    message: `The token endpoint gave no token: ${why}`.toWellFormed(),
    retryAfterMs,
  };
}

function jsonOf({ body }: Answer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}
