import { Readable } from 'node:stream';
import type { Context, Middleware } from 'koa';
import { MINUTE_MS } from '../domain/durations.ts';
import { serviceError } from '../domain/errors.ts';
import type { ExportArchive } from '../domain/invoice/periods/export-archive.ts';
import type { ExportDeclaration } from '../domain/invoice/periods/export-declaration.ts';
import { type Period, periodNamed } from '../domain/invoice/periods/period.ts';
import { DECLARATION_FORMATS, type DeclarationFormat } from '../domain/invoice/periods/ports.ts';
import { createFairQueue } from '../domain/kit/fair-queue.ts';
import { requireScope } from '../domain/principal.ts';
import type { Owner } from '../domain/tenant/tenant.ts';
import { accessOf } from '../graphql/access.ts';
import type { EventStreams } from './event-stream.ts';
import { isUnchanged } from './headers.ts';
import { type LeastSpeed, requireSpeed } from './least-speed.ts';
import { archiveEtag, askedArchive } from './period-parameters.ts';
import { languageOf } from './query-parameters.ts';
import { sendFile } from './send-file.ts';
import { principalOf } from './state.ts';
import { followFile, TABLE_MEDIA_TYPES, takeFilePlace, WHEN_FREE } from './streamed-file.ts';

/**
 * Maximum number of exports of a tenant, and of all tenants, that run in this process at the same time. Others are
 * refused.
 */
const PLACES = { placesPerKey: 2, places: 32, perKey: 0 } as const;
/** Maximum number of archives among them. Each takes up to 60 MB of memory, a declaration 15 MB. */
const ARCHIVES = { places: 12, perKey: 0 } as const;
/** Minimum speed at which a client must read, so that it does not keep a place from others. */
const LEAST_SPEED: LeastSpeed = { bytes: 1024 * 1024, withinMs: MINUTE_MS };
/** Seconds after which a client may repeat the request for an export whose documents are being made. */
const WHEN_MADE = '2';
const BUSY = `Too many exports run at the moment. Try again in ${WHEN_FREE} s, or when one has ended.`;

/** The name of the archive, for which there are fewer places. */
const ARCHIVE = 'documents.zip';

export interface PeriodExportParts {
  readonly exportDeclaration: ExportDeclaration;
  readonly exportArchive: ExportArchive;
  readonly streams: Pick<EventStreams, 'whenRevoked'>;
}

/** Answers with a file of a period. @throws {ServiceError} */
type Send = (ctx: Context, owner: Owner, period: Period) => Promise<void>;

/**
 * Serves `/exports/<period>/<file>`, the files of a period for those who may read the tenant's invoices
 * (docs/decisions/0093). They are streamed as they are made.
 */
export function periodExports(
  { exportDeclaration, exportArchive, streams }: PeriodExportParts,
  leastSpeed = LEAST_SPEED,
): Middleware {
  const running = createFairQueue(PLACES);
  const archives = createFairQueue(ARCHIVES);
  const files = new Map<string, Send>([
    ...DECLARATION_FORMATS.map((format) => [`declaration.${format}`, declaration(exportDeclaration, format)] as const),
    [ARCHIVE, archive(exportArchive)],
  ]);
  const names = [...files.keys()].join(', ');

  return async (ctx: Context) => {
    const principal = principalOf(ctx);
    const { tenant, environment } = requireScope(principal, accessOf('period').scope);
    const { period: name, file } = ctx.params as { readonly period: string; readonly file: string };
    const send = files.get(file);
    if (!send) throw serviceError('resource_not_found', `There is no such file. A period has ${names}.`);
    const period = periodNamed(name);
    const leave = await takePlace(ctx, tenant.id, file);
    try {
      await send(ctx, { tenantId: tenant.id, environment }, period);
      ctx.set('X-Robots-Tag', 'noindex');
    } finally {
      if (ctx.body instanceof Readable) {
        followFile(ctx.body, principal, streams, leave);
        requireSpeed(ctx.res, leastSpeed);
      } else leave();
    }
  };

  /** Takes a place. @throws {ServiceError} rate_limit_exceeded, with `Retry-After` */
  async function takePlace(ctx: Context, tenantId: string, file: string): Promise<() => void> {
    const leave = await takeFilePlace(ctx, running, tenantId, BUSY);
    if (file !== ARCHIVE) return leave;
    try {
      const leaveArchives = await takeFilePlace(ctx, archives, tenantId, BUSY);
      return () => {
        leaveArchives();
        leave();
      };
    } catch (error) {
      leave();
      throw error;
    }
  }
}

function declaration(exportDeclaration: ExportDeclaration, format: DeclarationFormat): Send {
  return async (ctx, owner, period) => {
    const language = languageOf(ctx, 'lang');
    const bytes = await exportDeclaration(owner, period, { format, language });
    ctx.attachment(`declaration-${period.name}.${format}`);
    ctx.set('Content-Language', language);
    ctx.vary('Accept-Language');
    ctx.status = 200;
    if (ctx.method !== 'HEAD') ctx.body = Readable.from(bytes, { objectMode: false });
    ctx.set('Content-Type', TABLE_MEDIA_TYPES[format]);
  };
}

function archive(exportArchive: ExportArchive): Send {
  return async (ctx, owner, period) => {
    const made = await exportArchive(owner, period, askedArchive(ctx));
    const { documents, incomplete, isReady, size, read } = made;
    ctx.set('Fatoura-Documents', String(documents));
    ctx.set('Fatoura-Incomplete-Documents', String(incomplete));
    if (!isReady) {
      ctx.set('Retry-After', WHEN_MADE);
      const message = `The files of ${incomplete} of ${documents} documents are still being made. Try again in ${WHEN_MADE} s.`;
      throw serviceError('internal_error', message, null, 503);
    }
    if (isUnchanged(ctx, archiveEtag(made))) return;
    ctx.attachment(`documents-${period.name}.zip`);
    ctx.set('Content-Type', 'application/zip');
    // Proxies must not change the bytes, because a later range continues them.
    ctx.set('Cache-Control', 'no-store, no-transform');
    // Each acceptance changes the archive. A range is answered only with the tag of the answer that it continues.
    sendFile(ctx, size, read, ctx.get('If-Range') !== '');
  };
}
