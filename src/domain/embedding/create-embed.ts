import type { DocumentLanguage } from '../document-language.ts';
import { serviceError } from '../errors.ts';
import type { Invoice } from '../invoice/invoice.ts';
import type { Member, Principal } from '../principal.ts';
import type { Environment } from '../tenant/tenant.ts';
import type { Call, UseCase } from '../use-case.ts';
import { ACCENT, type EmbedAppearance } from './appearance.ts';
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

export interface EmbedInput extends EmbedAppearance<DocumentLanguage> {
  /** The id of an invoice or of a webhook endpoint. */
  readonly id: string;
  /** The sites whose pages may frame it: `https://shop.example.ma`. In test also `http://localhost:5173`. */
  readonly origins: readonly string[];
  readonly seconds: number;
}

interface EmbedNeeds {
  readonly embedTokens: Pick<EmbedTokens, 'issue' | 'frameOf'>;
  /** @throws {ServiceError} resource_not_found */
  readonly readInvoice: (principal: Principal, id: string, clientSecret: null) => Promise<Invoice>;
  /** @throws {ServiceError} resource_not_found */
  readonly findEndpoint: (principal: Principal, id: string) => Promise<unknown>;
  readonly publicUrl: string;
  readonly now: () => Date;
}

/**
 * Creates pages that a tenant's own product shows its customers.
 * @throws {ServiceError} resource_not_found; invalid_request for an origin, a time or a colour that is not valid
 */
export const EMBED_USE_CASES = {
  /** Creates a page with an invoice's live status. */
  createInvoiceEmbed: {
    scope: 'operate',
    async run(needs: EmbedNeeds, { by }: Call, input: EmbedInput): Promise<Embed> {
      await needs.readInvoice(by, input.id, null);
      return embedOf(needs, by, 'invoice', input);
    },
  },
  /** Creates a page with the deliveries to a webhook endpoint. */
  createDeliveryLogEmbed: {
    scope: 'operate',
    async run(needs: EmbedNeeds, { by }: Call, input: EmbedInput): Promise<Embed> {
      await needs.findEndpoint(by, input.id);
      return embedOf(needs, by, 'deliveries', input);
    },
  },
} as const satisfies Readonly<Record<string, UseCase>>;

function embedOf(
  { embedTokens, publicUrl, now }: EmbedNeeds,
  { tenant, environment }: Member,
  kind: EmbedGrant['kind'],
  { id, origins, seconds, ...appearance }: EmbedInput,
): Embed {
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
  if (typeof appearance.accent === 'string' && !ACCENT.test(appearance.accent))
    throw serviceError('invalid_request', 'accent must be a colour such as #0b5d45.', 'accent');
  const expiresAt = new Date((Math.floor(now().getTime() / 1000) + seconds) * 1000);
  const token = embedTokens.issue({ kind, tenantId: tenant.id, environment, subject: id, expiresAt });
  const page = kind === 'invoice' ? `invoices/${id}` : 'deliveries';
  const address = `${publicUrl}/embed/${page}/${embedTokens.frameOf(origins)}`;
  return { token, url: `${address}${queryOf(appearance)}#${token}`, expiresAt };
}

/** Writes an appearance as the query of a page's URL; empty where nothing is chosen. */
function queryOf({ language, font, accent }: EmbedAppearance): string {
  const query = new URLSearchParams();
  if (language) query.set('lang', language);
  if (font) query.set('font', font);
  if (accent) query.set('accent', accent.slice(1).toLowerCase());
  return query.size === 0 ? '' : `?${query}`;
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
