import { createHmac, timingSafeEqual } from 'node:crypto';
import type { DataKey, DataKeys } from '../data-keys.ts';
import { isId } from '../ids.ts';
import { ENVIRONMENTS, type Environment } from '../tenant/tenant.ts';
import { MAC_LENGTH } from './frame.ts';

/** The data that a token opens, and until when it does. */
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

/**
 * Issues and verifies the tokens of embedded pages (docs/decisions/0064). Nothing is stored: a token contains the
 * grant, signed.
 */
export interface EmbedTokens {
  /** Issues a token: `emb_` and letters, digits, `-` and `_`. */
  issue(grant: EmbedGrant): string;
  /** Verifies a token in constant time. @returns null if it was not issued here, or has expired */
  verify(token: string, now: Date): EmbedGrant | null;
  /** Returns the part of a page's URL that names the sites which may frame it. It is signed but not secret. */
  frameOf(origins: readonly string[]): string;
  /** Returns the sites that {@link frameOf} named in this part of a URL. @returns null if it was not issued here */
  originsOf(frame: string): readonly string[] | null;
}

const PREFIX = 'emb_';
/** Maximum length of a token or a frame, in characters. */
const MOST = 2000;
const KINDS = { invoice: 'inv', deliveries: 'we' } as const satisfies Readonly<Record<EmbedGrant['kind'], string>>;

/** Creates the tokens. @param keys the newest signs, and signatures of all accepted keys are valid */
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
      // The signature is ours, but another version may have made it, so its content is checked.
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
