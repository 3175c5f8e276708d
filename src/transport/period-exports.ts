import { Readable } from 'node:stream';
import type { Context, Middleware } from 'koa';
import { DOCUMENT_LANGUAGES, type DocumentLanguage } from '../domain/document-language.ts';
import { serviceError } from '../domain/errors.ts';
import type { ExportDeclaration } from '../domain/invoice/periods/export-declaration.ts';
import { type Period, periodNamed } from '../domain/invoice/periods/period.ts';
import { DECLARATION_FORMATS, type DeclarationFormat } from '../domain/invoice/periods/ports.ts';
import { createFairQueue, QueueFull } from '../domain/kit/fair-queue.ts';
import { type Member, type Principal, requireScope } from '../domain/principal.ts';
import type { EventStreams } from './event-stream.ts';
import { principalOf } from './state.ts';

/** Maximum number of exports of a tenant, and of all tenants, that run in this process at once. Others are refused. */
const PLACES = { placesPerKey: 2, places: 32, perKey: 0 } as const;
/** When a refused export may be asked for again, seconds. */
const RETRY_AFTER = '10';

const MEDIA_TYPES: Readonly<Record<DeclarationFormat, string>> = {
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  csv: 'text/csv; charset=utf-8',
};

export interface PeriodExportParts {
  readonly exportDeclaration: ExportDeclaration;
  readonly streams: Pick<EventStreams, 'whenRevoked'>;
}

/**
 * Serves `/exports/<period>/<file>`, the files of a period for those who may read the tenant's invoices
 * (docs/api/exports.md). They are streamed as they are made.
 */
export function periodExports({ exportDeclaration, streams }: PeriodExportParts): Middleware {
  const running = createFairQueue(PLACES);

  return async (ctx: Context) => {
    const principal = principalOf(ctx);
    const { tenant, environment } = requireScope(principal, 'read');
    const { period: name, file } = ctx.params as { readonly period: string; readonly file: string };
    const format = DECLARATION_FORMATS.find((each) => file === `declaration.${each}`);
    if (format === undefined) throw serviceError('resource_not_found', `A period has ${FILES.join(' and ')}.`);
    const period = periodNamed(name);
    const language = languageOf(ctx);
    describe(ctx, period, format, language);
    if (ctx.method === 'HEAD') {
      ctx.status = 200;
      return;
    }
    const leave = await takePlace(ctx, tenant);
    try {
      const bytes = await exportDeclaration({ tenantId: tenant.id, environment }, period, { format, language });
      send(ctx, principal, bytes, leave);
    } catch (error) {
      leave();
      throw error;
    }
  };

  /** Takes a place. @throws {ServiceError} rate_limit_exceeded, with `Retry-After` */
  async function takePlace(ctx: Context, { id }: Member['tenant']): Promise<() => void> {
    try {
      return await running.enter(id);
    } catch (error) {
      if (!(error instanceof QueueFull)) throw error;
      ctx.set('Retry-After', RETRY_AFTER);
      const message = `Too many exports run at the moment. Try again in ${RETRY_AFTER} s, or when one has ended.`;
      throw serviceError('rate_limit_exceeded', message);
    }
  }

  /** Sends a file while it is made. It ends with the caller's credential, and is then not complete. */
  function send(ctx: Context, principal: Principal, bytes: AsyncIterable<Uint8Array>, leave: () => void): void {
    const body = Readable.from(bytes, { objectMode: false });
    const unfollow = streams.whenRevoked(principal, () => body.destroy());
    // Koa destroys it when the answer has ended, or the client is gone.
    body.once('close', () => {
      unfollow();
      leave();
    });
    ctx.body = body;
  }
}

const FILES = DECLARATION_FORMATS.map((format) => `declaration.${format}`);

function describe(ctx: Context, { name }: Period, format: DeclarationFormat, language: DocumentLanguage): void {
  ctx.attachment(`declaration-${name}.${format}`);
  ctx.set('Content-Type', MEDIA_TYPES[format]);
  ctx.set('Content-Language', language);
  ctx.vary('Accept-Language');
}

/**
 * Returns the language of `?lang=`, otherwise of Accept-Language, otherwise French.
 * @throws {ServiceError} invalid_request for another language or parameter
 */
function languageOf(ctx: Context): DocumentLanguage {
  const { lang: asked, ...others } = ctx.query;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw serviceError('invalid_request', 'The only parameter is lang.', unknown.slice(0, LONGEST_PARAM));
  if (asked === undefined) return (ctx.acceptsLanguages([...DOCUMENT_LANGUAGES]) || 'fr') as DocumentLanguage;
  const language = DOCUMENT_LANGUAGES.find((each) => each === asked);
  if (language) return language;
  throw serviceError('invalid_request', `lang must be ${DOCUMENT_LANGUAGES.join(', ')}.`, 'lang');
}

/** Maximum length of the name of a parameter in an error, in characters. */
const LONGEST_PARAM = 100;
