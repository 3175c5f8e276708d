import type { Context, Middleware } from 'koa';
import type { EmbedTokens } from '../domain/embedding/embed-token.ts';
import type { ReadEmbeddedLog } from '../domain/embedding/read-embedded-log.ts';
import { serviceError } from '../domain/errors.ts';
import { type FollowParts, followStatuses } from './followed-statuses.ts';
import { answerJson } from './json.ts';

export interface EmbeddingParts {
  readonly originsOf: EmbedTokens['originsOf'];
  readonly readLog: ReadEmbeddedLog;
}

/**
 * The routes of embedded pages (docs/decisions/0064).
 * @param showPage answers with the page and allows the given sites to frame it
 */
export function embeddingRoutes(
  { originsOf, readLog }: EmbeddingParts,
  showPage: (ctx: Context, framedBy: readonly string[]) => Promise<void>,
  follow: FollowParts,
): readonly (readonly ['GET' | 'POST', string, Middleware])[] {
  const show: Middleware = async (ctx) => {
    const origins = originsOf(String((ctx.params as { frame?: string }).frame));
    if (origins === null) throw serviceError('resource_not_found', 'The address of this page is incomplete.');
    // This older header cannot name sites; `frame-ancestors` replaces it.
    ctx.remove('X-Frame-Options');
    await showPage(ctx, origins);
  };
  return [
    ['GET', '/embed/invoices/:id/:frame', show],
    ['GET', '/embed/deliveries/:frame', show],
    ['POST', '/embed/api/statuses', followStatuses(follow)],
    [
      'GET',
      '/embed/api/deliveries',
      async (ctx) => {
        const token = /^bearer +(\S+) *$/i.exec(ctx.get('Authorization'))?.[1] ?? '';
        const { after, ...others } = ctx.query;
        const [other] = Object.keys(others);
        if (other !== undefined || Array.isArray(after))
          throw serviceError('invalid_request', 'The only parameter is after.', other ?? 'after');
        answerJson(ctx, 200, await readLog(token, after ?? null));
      },
    ],
  ];
}
