import { CommandError } from '../errors.ts';
import type { Doc } from '../query/types.ts';

/**
 * A position in the oplog: after an event, after the invalidate event that follows it, or a high-water mark between
 * events.
 */
export interface Token {
  seq: number;
  kind: 'mark' | 'event' | 'invalidate';
}

const KINDS = ['mark', 'event', 'invalidate'] as const;
/** Version of the token format. */
const VERSION = '82';

/** Encodes a token as `{_data: hex}`. Tokens sort in the order of their positions. */
export function encodeToken({ seq, kind }: Token): Doc {
  return {
    _data:
      `${VERSION}${seq.toString(16).padStart(14, '0')}${KINDS.indexOf(kind).toString().padStart(2, '0')}`.toUpperCase(),
  };
}

/** Decodes a token; error 260 for one that this server did not create. */
export function decodeToken(token: Doc): Token {
  const match = /^82([0-9A-F]{14})0([012])$/.exec(String(token._data));
  const kind = KINDS[Number(match?.[2])];
  if (!match || !kind || Object.keys(token).length !== 1) {
    throw new CommandError(
      'InvalidResumeToken',
      `The resume token was not created by this server: ${JSON.stringify(token)}`,
    );
  }
  return { seq: Number.parseInt(match[1] as string, 16), kind };
}
