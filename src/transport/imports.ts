import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Context, Middleware } from 'koa';
import type { DocumentLanguage } from '../domain/document-language.ts';
import { MINUTE_MS } from '../domain/durations.ts';
import { serviceError } from '../domain/errors.ts';
import { takeTurn } from '../domain/event-loop-turns.ts';
import { newId } from '../domain/ids.ts';
import type { Import } from '../domain/imports/import.ts';
import type { ImportFiles } from '../domain/imports/import-store.ts';
import { IMPORT_LIMITS } from '../domain/imports/limits.ts';
import { expiryOf } from '../domain/imports/own-imports.ts';
import type { WorkbookTemplates } from '../domain/imports/ports.ts';
import type { FileReading } from '../domain/imports/reading.ts';
import { createFairQueue } from '../domain/kit/fair-queue.ts';
import { requireScope } from '../domain/principal.ts';
import type { Owner } from '../domain/tenant/tenant.ts';
import { accessOf } from '../graphql/access.ts';
import type { UseCases } from '../graphql/context.ts';
import { askAgain } from './ask.ts';
import { BODY_MS } from './body.ts';
import type { EventStreams } from './event-stream.ts';
import { answerJson } from './json.ts';
import { type LeastSpeed, requireSpeed } from './least-speed.ts';
import { languageIn, languageOf, refuseOthers } from './query-parameters.ts';
import { principalOf } from './state.ts';
import { followFile, TABLE_MEDIA_TYPES, takeFilePlace, WHEN_FREE } from './streamed-file.ts';

/** Maximum number of files of a tenant, and of all tenants, that arrive at the same time. Others are refused. */
const PLACES = { placesPerKey: 2, places: 32, perKey: 0 } as const;
const BUSY = `Too many files are sent at the moment. Try again in ${WHEN_FREE} s.`;
/**
 * Maximum bytes of a too large file that are read and discarded. Many clients read no answer before they have sent
 * everything.
 */
const DROPPED_BYTES = 4 * IMPORT_LIMITS.fileBytes;
/** Size of a stored piece, bytes. One piece of an upload is in memory. */
const PIECE_BYTES = 256 * 1024;
/** Bytes of a file that are received and digested in one unit of `takeTurn`. */
const BYTES_A_UNIT = 300;

/**
 * Maximum number of returned files of a tenant, and of all tenants, that are written at the same time. Others are
 * refused.
 */
const RETURNS = { placesPerKey: 2, places: 16, perKey: 0 } as const;
/** Minimum speed at which a client must read, so that it does not keep a place from others. */
const LEAST_SPEED: LeastSpeed = { bytes: 256 * 1024, withinMs: MINUTE_MS };

export interface ImportRouteParts {
  readonly useCases: Pick<UseCases, 'uploadImport' | 'import'>;
  readonly importFiles: ImportFiles;
  /** Writes the file of an import with its verdicts. */
  readonly returnedFile: (imported: Import) => AsyncIterable<Uint8Array>;
  readonly templates: WorkbookTemplates;
  readonly streams: Pick<EventStreams, 'whenRevoked'>;
}

/**
 * The routes of imports (docs/decisions/0097): upload of a file, download of the same file with its verdicts, and an
 * empty workbook. GraphQL shows the state of an import. The bytes of a file are stored as they arrive, so that an
 * upload takes the memory of one piece.
 */
export function importRoutes({
  useCases,
  importFiles,
  returnedFile,
  templates,
  streams,
}: ImportRouteParts): readonly (readonly ['GET' | 'POST', string, Middleware])[] {
  const arriving = createFairQueue(PLACES);
  const returning = createFairQueue(RETURNS);

  async function upload(ctx: Context): Promise<void> {
    const { tenant, environment } = requireScope(principalOf(ctx), accessOf('uploadImport').scope);
    const { name, language } = namedFile(ctx);
    const owner = { tenantId: tenant.id, environment };
    const leave = await takeFilePlace(ctx, arriving, tenant.id, BUSY);
    const id = newId('imp');
    try {
      const file = await receive(ctx, owner, id);
      // The permission may have ended while the file arrived.
      await askAgain(ctx);
      await useCases.uploadImport(principalOf(ctx), { id, file: { name, ...file }, language });
      answerJson(ctx, 201, { id });
    } catch (error) {
      // If this fails, too, the stored pieces expire.
      await importFiles.remove(id).catch(() => undefined);
      throw error;
    } finally {
      leave();
    }
  }

  /**
   * Stores a file as it arrives.
   * @throws {ServiceError} invalid_request: 408 when it takes too long, 413 when it is too large, 415 when it has a
   *   content coding, 400 when the client disconnects
   */
  async function receive(ctx: Context, owner: Owner, id: string): Promise<{ size: number; sha256: string }> {
    if (!/^(identity)?$/i.test(ctx.get('Content-Encoding')))
      throw serviceError('invalid_request', 'Send the file without Content-Encoding.', null, 415);
    if (Number(ctx.get('Content-Length')) > DROPPED_BYTES) {
      ctx.set('Connection', 'close');
      throw tooLarge();
    }
    const expiresAt = expiryOf(new Date());
    const digest = createHash('sha256');
    let [size, nth, waiting]: [number, number, Buffer[]] = [0, 0, []];
    const store = async () => {
      const piece = Buffer.concat(waiting);
      waiting = [];
      if (piece.length > 0) await importFiles.put(owner, id, nth++, piece, expiresAt);
    };
    const timer = setTimeout(() => ctx.req.destroy(new TooSlow()), BODY_MS).unref();
    let held = 0;
    try {
      for await (const piece of ctx.req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        size += piece.length;
        if (size > DROPPED_BYTES) {
          ctx.set('Connection', 'close');
          break;
        }
        if (size > IMPORT_LIMITS.fileBytes) {
          waiting = [];
          continue;
        }
        await takeTurn(piece.length / BYTES_A_UNIT);
        digest.update(piece);
        waiting.push(piece);
        held += piece.length;
        if (held < PIECE_BYTES) continue;
        held = 0;
        await store();
      }
      if (size > IMPORT_LIMITS.fileBytes) throw tooLarge();
      await store();
    } catch (error) {
      if (error instanceof TooSlow)
        throw serviceError('invalid_request', `The file did not arrive within ${BODY_MS / 1000} s.`, null, 408);
      if (!ctx.req.complete) throw serviceError('invalid_request', 'The body ended early.');
      throw error;
    } finally {
      clearTimeout(timer);
    }
    return { size, sha256: digest.digest('hex') };
  }

  /** Answers with the file of an import and its current verdicts. */
  async function sendBack(ctx: Context): Promise<void> {
    const principal = principalOf(ctx);
    const { tenant } = requireScope(principal, accessOf('import').scope);
    const { id } = ctx.params as { readonly id: string };
    const imported = await useCases.import(principal, id);
    const { reading, file } = imported;
    if (reading === null) {
      const message = `The file of import ${id} was not read: it is ${imported.status}.`;
      throw serviceError('import_not_checked', message, 'id');
    }
    const leave = await takeFilePlace(ctx, returning, tenant.id, BUSY);
    ctx.attachment(file.name);
    ctx.status = 200;
    if (ctx.method === 'HEAD') leave();
    else {
      const body = Readable.from(returnedFile(imported), { objectMode: false });
      followFile(body, principal, streams, leave);
      ctx.body = body;
      requireSpeed(ctx.res, LEAST_SPEED);
    }
    ctx.set('Content-Type', mediaType(reading));
  }

  /** Answers with an empty workbook. */
  async function sendTemplate(ctx: Context): Promise<void> {
    requireScope(principalOf(ctx), accessOf('imports').scope);
    const language = languageOf(ctx, 'language');
    ctx.attachment(`fatoura-${language}.xlsx`);
    ctx.status = 200;
    // The few KB are made as a whole, so that a slow reader keeps no writer waiting.
    if (ctx.method !== 'HEAD') ctx.body = Buffer.concat(await Array.fromAsync(templates.write(language)));
    ctx.set('Content-Language', language);
    ctx.set('Content-Type', TABLE_MEDIA_TYPES.xlsx);
  }

  return [
    ['POST', '/imports', upload as Middleware],
    ['GET', '/imports/template.xlsx', sendTemplate as Middleware],
    ['GET', '/imports/:id/result', sendBack as Middleware],
  ];
}

/** Returns the media type of a returned file. A CSV file has the encoding in which it was sent. */
function mediaType({ format, encoding }: FileReading): string {
  return format === 'csv' && encoding !== null ? `text/csv; charset=${encoding}` : TABLE_MEDIA_TYPES[format];
}

class TooSlow extends Error {}

function tooLarge() {
  const most = IMPORT_LIMITS.fileBytes / 1024 / 1024;
  return serviceError('invalid_request', `The file is larger than the maximum of ${most} MiB.`, null, 413);
}

/** Reads the parameters of an upload. @throws {ServiceError} invalid_request */
function namedFile(ctx: Context): { readonly name: string; readonly language: DocumentLanguage } {
  const { name, language, ...others } = ctx.query;
  refuseOthers(others, 'The parameters are name and language.');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a name must not have
  if (typeof name !== 'string' || name.length > IMPORT_LIMITS.name || !/^[^\u0000-\u001f\u007f]+$/.test(name))
    throw serviceError(
      'invalid_request',
      `name must be the name of the file, at most ${IMPORT_LIMITS.name} characters.`,
      'name',
    );
  return { name: name.toWellFormed(), language: languageIn(ctx, language, 'language') };
}
