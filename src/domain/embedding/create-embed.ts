import { serviceError } from '../errors.ts';
import type { Invoice } from '../invoice/invoice.ts';
import { type Principal, requireScope } from '../principal.ts';
import type { Environment } from '../tenant/tenant.ts';
import type { EmbedGrant, EmbedTokens } from './embed-token.ts';

/** How long a token is valid, in seconds. It is short, because a token cannot be revoked. */
export const EMBED_SECONDS = { least: 60, usual: 900, most: 3600 } as const;
/** Maximum number of sites that may frame a page. */
export const MOST_ORIGINS = 10;

/** A page for an `iframe`. */
export interface Embed {
  readonly token: string;
  /** The address of the page, with the token in the fragment, which browsers do not send. */
  readonly url: string;
  readonly expiresAt: Date;
}

export interface EmbedInput {
  /** The id of an invoice or of a webhook endpoint. */
  readonly id: string;
  /** The sites whose pages may frame it: `https://shop.example.ma`. In test also `http://localhost:5173`. */
  readonly origins: readonly string[];
  readonly seconds: number;
}

/**
 * Creates pages that a tenant's own product shows its customers.
 * @throws {ServiceError} insufficient_scope; resource_not_found; invalid_request for an origin or a time that is not
 * valid
 */
export interface CreateEmbed {
  /** Creates a page with an invoice's live status. */
  invoice(principal: Principal, input: EmbedInput): Promise<Embed>;
  /** Creates a page with the deliveries to a webhook endpoint. */
  deliveries(principal: Principal, input: EmbedInput): Promise<Embed>;
}

export function createCreateEmbed(
  tokens: Pick<EmbedTokens, 'issue' | 'frameOf'>,
  readInvoice: (principal: Principal, id: string, clientSecret: null) => Promise<Invoice>,
  findEndpoint: (principal: Principal, id: string) => Promise<unknown>,
  publicUrl: string,
  now: () => Date,
): CreateEmbed {
  function embedOf(principal: Principal, kind: EmbedGrant['kind'], { id, origins, seconds }: EmbedInput): Embed {
    const { tenant, environment } = requireScope(principal, 'operate');
    const { least, most } = EMBED_SECONDS;
    if (seconds < least || seconds > most)
      throw serviceError('invalid_request', `seconds must be from ${least} to ${most}.`, 'seconds');
    if (origins.length < 1 || origins.length > MOST_ORIGINS)
      throw serviceError('invalid_request', `origins must name 1 to ${MOST_ORIGINS} sites.`, 'origins');
    for (const [index, origin] of origins.entries()) {
      if (isOrigin(origin, environment)) continue;
      throw serviceError(
        'invalid_request',
        `origins[${index}] must be the origin of a site, such as https://shop.example.ma, without a path.`,
        `origins[${index}]`,
      );
    }
    const expiresAt = new Date((Math.floor(now().getTime() / 1000) + seconds) * 1000);
    const token = tokens.issue({ kind, tenantId: tenant.id, environment, subject: id, expiresAt });
    const page = kind === 'invoice' ? `invoices/${id}` : 'deliveries';
    return { token, url: `${publicUrl}/embed/${page}/${tokens.frameOf(origins)}#${token}`, expiresAt };
  }
  return {
    async invoice(principal, input) {
      requireScope(principal, 'operate');
      await readInvoice(principal, input.id, null);
      return embedOf(principal, 'invoice', input);
    },
    async deliveries(principal, input) {
      requireScope(principal, 'operate');
      await findEndpoint(principal, input.id);
      return embedOf(principal, 'deliveries', input);
    },
  };
}

/**
 * Whether a text is exactly an origin as browsers write it. It must use TLS, except on the developer's own machine in
 * test.
 */
function isOrigin(text: string, environment: Environment): boolean {
  const url = text.length <= 200 ? URL.parse(text) : null;
  // Only names of DNS are allowed. The host of a URL may contain `*` and `;`, which have a meaning in the header.
  if (url === null || url.origin !== text || !/^[a-z0-9.-]+$/.test(url.hostname)) return false;
  if (url.protocol === 'https:') return true;
  return environment === 'test' && url.protocol === 'http:' && ['localhost', '127.0.0.1'].includes(url.hostname);
}
