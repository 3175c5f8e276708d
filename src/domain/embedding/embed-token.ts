import { createHmac, timingSafeEqual } from 'node:crypto';
import type { DataKey, DataKeys } from '../data-keys.ts';
import { isId } from '../ids.ts';
import { ENVIRONMENTS, type Environment } from '../tenant/tenant.ts';

/** The data that a token opens, and until when. */
export interface EmbedGrant {
  /** An invoice's status, or the deliveries to a webhook endpoint. */
  readonly kind: 'invoice' | 'deliveries';
  readonly tenantId: string;
  readonly environment: Environment;
  /** The id of the invoice or of the endpoint. */
  readonly subject: string;
  /** UTC, whole seconds. */
  readonly expiresAt: Date;
}

/** The tokens of embedded pages (docs/decisions/0064). Nothing is stored: what they open is in them, signed. */
export interface EmbedTokens {
  /** `emb_` and letters, digits, `-` and `_`. */
  issue(grant: EmbedGrant): string;
  /** @returns null if the token is not from here, or has expired. Constant-time comparison */
  verify(token: string, now: Date): EmbedGrant | null;
  /** The part of a page's address that says which sites may frame it. It is no secret, but nobody can change it. */
  frameOf(origins: readonly string[]): string;
  /** @returns null if it is not from here */
  originsOf(frame: string): readonly string[] | null;
}

const PREFIX = 'emb_';
/** 192 bits: characters of base64url. */
const MAC_LENGTH = 32;
/** Characters of a token and of a frame at most. */
const MOST = 2000;
const KINDS = { invoice: 'inv', deliveries: 'we' } as const satisfies Readonly<Record<EmbedGrant['kind'], string>>;

/** @param keys the newest signs, and what an accepted one signed is valid */
export function createEmbedTokens(keys: DataKeys): EmbedTokens {
  const macOf = ({ secret }: DataKey, purpose: string, body: string) =>
    createHmac('sha256', secret).update(`${purpose}:${body}`).digest().subarray(0, 24).toString('base64url');

  function sign(purpose: string, content: unknown): string {
    const body = Buffer.from(JSON.stringify(content)).toString('base64url');
    return body + macOf(keys.newest(), purpose, body);
  }
  function open(purpose: string, signed: string): unknown {
    if (signed.length <= MAC_LENGTH || signed.length > MOST) return null;
    const [body, given] = [signed.slice(0, -MAC_LENGTH), Buffer.from(signed.slice(-MAC_LENGTH))];
    const isSigned = (key: DataKey) => {
      const expected = Buffer.from(macOf(key, purpose, body));
      return given.length === expected.length && timingSafeEqual(given, expected);
    };
    return keys.accepted().some(isSigned) ? JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) : null;
  }
  return {
    issue({ kind, tenantId, environment, subject, expiresAt }) {
      const seconds = Math.floor(expiresAt.getTime() / 1000);
      return PREFIX + sign('embed-token', [kind, tenantId, environment, subject, seconds]);
    },
    verify(token, now) {
      if (!token.startsWith(PREFIX)) return null;
      const content = open('embed-token', token.slice(PREFIX.length));
      if (!Array.isArray(content)) return null;
      const [kind, tenantId, environment, subject, seconds] = content;
      // Signed here, but by which version? So nothing is taken for granted.
      if (!(kind in KINDS) || !isId(KINDS[kind as EmbedGrant['kind']], subject) || !ENVIRONMENTS.includes(environment))
        return null;
      const expiresAt = new Date(seconds * 1000);
      return expiresAt > now ? { kind, tenantId, environment, subject, expiresAt } : null;
    },
    frameOf: (origins) => sign('embed-frame', origins),
    originsOf(frame) {
      const content = open('embed-frame', frame);
      return Array.isArray(content) ? content.map(String) : null;
    },
  };
}
