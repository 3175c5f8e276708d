import { type KeyObject, randomBytes, verify } from 'node:crypto';
import type { Clock } from './clock.ts';

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
/** Maximum difference of the client's clock, seconds. */
const LEEWAY_S = 30;
/** The latest allowed end of an assertion from now, seconds. */
const MAX_ASSERTION_LIFE_S = 600;
const ALGORITHMS = { ES256: 'ec', RS256: 'rsa' } as const;

/** An error of the token endpoint (RFC 6749, section 5.2). */
export interface TokenRefusal {
  readonly status: 400 | 401;
  readonly error: string;
  readonly description: string;
}

export type TokenAnswer = { readonly token: string; readonly expiresIn: number } | TokenRefusal;

/** OAuth 2 client credentials with `private_key_jwt` (RFC 6749, RFC 7523). Times are those of the simulator's clock. */
export interface Tokens {
  /** Answers the form that was sent to the token endpoint. */
  issue(form: URLSearchParams): TokenAnswer;
  /** Returns why an `Authorization` header is refused; null when it is not. */
  check(authorization: string | undefined): 'token_invalid' | 'token_expired' | null;
  /** Makes all tokens invalid; for `refuseFor` milliseconds none is issued (400 `invalid_grant`). */
  revoke(refuseFor: number): void;
}

interface TokenParts {
  readonly clientId: string;
  readonly tokenUrl: () => string;
  readonly publicKey: () => KeyObject;
  /** Milliseconds. */
  readonly life: number;
  readonly clock: Clock;
}

export function createTokens({ clientId, tokenUrl, publicKey: registeredKey, life, clock }: TokenParts): Tokens {
  /** End of each token by the simulator's clock, oldest first. */
  const tokens = new Map<string, number>();
  /** When an assertion's id may be forgotten. */
  const used = new Map<string, number>();
  let refusingUntil = 0;

  const refuse = (error: string, description: string, status: 400 | 401 = 400): TokenRefusal => ({
    status,
    error,
    description,
  });
  const invalidClient = (description: string) => refuse('invalid_client', description, 401);

  function checkAssertion(assertion: string): TokenRefusal | null {
    const [head = '', body = '', signature = '', ...more] = assertion.split('.');
    const header = parsed(head);
    const claims = parsed(body);
    if (header === null || claims === null || more.length > 0) return invalidClient('The assertion is not a JWT.');
    const key = registeredKey();
    const algorithm = header.alg as keyof typeof ALGORITHMS;
    if (!Object.hasOwn(ALGORITHMS, String(algorithm)) || ALGORITHMS[algorithm] !== key.asymmetricKeyType)
      return invalidClient(`The algorithm ${String(algorithm)} is not that of the registered key.`);
    const signed = Buffer.from(`${head}.${body}`);
    const publicKey = { key, dsaEncoding: 'ieee-p1363' } as const;
    if (!verify('sha256', signed, publicKey, Buffer.from(signature, 'base64url')))
      return invalidClient('The assertion was not signed with the registered key.');
    if (claims.iss !== clientId || claims.sub !== clientId) return invalidClient('iss and sub must be the client id.');
    if (![claims.aud].flat().includes(tokenUrl())) return invalidClient(`aud must be ${tokenUrl()}.`);
    return checkTimes(claims);
  }

  function checkTimes({ exp, iat, nbf, jti }: Record<string, unknown>): TokenRefusal | null {
    const now = clock.now() / 1000;
    if (typeof exp !== 'number') return invalidClient('exp is missing.');
    if (exp <= now - LEEWAY_S) return invalidClient('The assertion has expired.');
    if (exp > now + MAX_ASSERTION_LIFE_S + LEEWAY_S) return invalidClient('exp is too far in the future.');
    for (const [name, value] of Object.entries({ iat, nbf })) {
      if (value !== undefined && !(typeof value === 'number' && value <= now + LEEWAY_S))
        return invalidClient(`${name} is in the future.`);
    }
    if (typeof jti !== 'string' || jti === '' || jti.length > 200) return invalidClient('jti is missing.');
    for (const [id, until] of used) if (until < clock.steady()) used.delete(id);
    if (used.has(jti)) return invalidClient('The assertion was used before.');
    used.set(jti, clock.steady() + 2 * (MAX_ASSERTION_LIFE_S + LEEWAY_S) * 1000);
    return null;
  }

  return {
    issue(form) {
      if (form.get('grant_type') !== 'client_credentials')
        return refuse('unsupported_grant_type', 'grant_type must be client_credentials.');
      const assertion = form.get('client_assertion');
      if (form.get('client_assertion_type') !== ASSERTION_TYPE || assertion === null)
        return refuse('invalid_request', `client_assertion_type must be ${ASSERTION_TYPE}, with a client_assertion.`);
      if (form.has('client_id') && form.get('client_id') !== clientId) return invalidClient('The client is unknown.');
      const refusal = checkAssertion(assertion);
      if (refusal !== null) return refusal;
      if (clock.steady() < refusingUntil) return refuse('invalid_grant', 'The authorization was revoked.');
      const token = randomBytes(32).toString('base64url');
      tokens.set(token, clock.now() + life);
      if (tokens.size > 1000) tokens.delete(tokens.keys().next().value ?? '');
      return { token, expiresIn: Math.floor(life / 1000) };
    },
    check(authorization) {
      const [, token = ''] = /^Bearer ([\w~+/.=-]+)$/i.exec(authorization ?? '') ?? [];
      const end = tokens.get(token);
      if (end === undefined) return 'token_invalid';
      return clock.now() >= end ? 'token_expired' : null;
    },
    revoke(refuseFor) {
      tokens.clear();
      refusingUntil = clock.steady() + refuseFor;
    },
  };
}

/** Parses a JSON object in base64url; null if the text is none. */
function parsed(part: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
