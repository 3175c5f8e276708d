import type { Context } from 'koa';
import { serviceError } from '../domain/errors.ts';
import type { ArchiveVersion, AskedArchive } from '../domain/invoice/periods/export-archive.ts';
import { onlyParameter } from './query-parameters.ts';

/**
 * Reads the request for an archive. `?incomplete=true` allows missing files. `Range` requests the rest of an earlier
 * answer, whose tag is in `If-Range`.
 * @throws {ServiceError} invalid_request for another value or parameter
 */
export function askedArchive(ctx: Context): AskedArchive {
  const asked = onlyParameter(ctx, 'incomplete');
  if (asked !== undefined && asked !== 'true')
    throw serviceError('invalid_request', 'incomplete must be true, or left out.', 'incomplete');
  const [, time, digest] = (ctx.get('Range') && TAG.exec(ctx.get('If-Range'))) || [];
  const earlier = time && digest ? { until: new Date(Number.parseInt(time, 36)), digest } : null;
  return { earlier, mayLack: asked === 'true' };
}

/** Returns the tag of an archive. */
export function archiveEtag({ until, digest }: ArchiveVersion): string {
  return `"${until.getTime().toString(36)}-${digest}"`;
}

/** Matches the result of {@link archiveEtag}. The time has at most nine digits: it is before the year 5188. */
const TAG = /^"([0-9a-z]{1,9})-([0-9a-f]{64})"$/;
