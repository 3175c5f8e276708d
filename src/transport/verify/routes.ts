import type { Context, Middleware } from 'koa';
import { DOCUMENT_LANGUAGES, type DocumentLanguage } from '../../domain/document-language.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { PublicFacts, VerifyPublicly } from '../../domain/invoice/verify-publicly.ts';
import { CONTENT_SECURITY_POLICY, type Outcome, unknownPage, verifyPage } from './page.ts';
import { digestOfUpload } from './uploaded-file.ts';

/**
 * `/verify/<invoice id>`, the address in the QR code of the PDF. The page says whether this service issued the invoice
 * and the authority accepted it, and whether a file is an unchanged document of the invoice. The browser examines the
 * file, or without a script the service does after a POST. The language is French, Arabic or English, from `?lang=` or
 * Accept-Language.
 */
export function verification(verifyPublicly: VerifyPublicly): {
  readonly show: Middleware;
  readonly check: Middleware;
} {
  return {
    async show(ctx) {
      const facts = await verifyPublicly(idOf(ctx));
      answer(ctx, facts, null);
    },
    async check(ctx) {
      const facts = await verifyPublicly(idOf(ctx));
      answer(ctx, facts, facts && (await outcomeOf(ctx, facts)));
    },
  };
}

function idOf(ctx: Context): string {
  return (ctx.params as { id: string }).id;
}

function answer(ctx: Context, facts: PublicFacts | null, outcome: Outcome | null): void {
  const language = languageOf(ctx);
  ctx.status = facts === null ? 404 : outcome === 'too-large' ? 413 : outcome === 'failed' ? 400 : 200;
  ctx.set('Content-Type', 'text/html; charset=utf-8');
  ctx.set('Content-Language', language);
  ctx.set('Content-Security-Policy', CONTENT_SECURITY_POLICY);
  ctx.set('X-Robots-Tag', 'noindex');
  ctx.set('Cache-Control', 'no-store');
  ctx.vary('Accept-Language');
  ctx.body = facts === null ? unknownPage(language) : verifyPage(facts, language, outcome);
  // The rest of an upload is not read.
  if (!ctx.req.complete) ctx.set('Connection', 'close');
}

async function outcomeOf(ctx: Context, { documents }: PublicFacts): Promise<Outcome> {
  try {
    const digest = await digestOfUpload(ctx, Math.max(...documents.map(({ size }) => size)));
    if (digest === null) return 'no-file';
    return documents.find(({ sha256 }) => sha256 === digest)?.kind ?? 'other';
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return error.status === 413 ? 'too-large' : 'failed';
  }
}

function languageOf(ctx: Context): DocumentLanguage {
  const asked = ctx.query.lang;
  const known = DOCUMENT_LANGUAGES.find((each) => each === asked);
  return known ?? ((ctx.acceptsLanguages([...DOCUMENT_LANGUAGES]) || 'fr') as DocumentLanguage);
}
