import { CommandError } from '../errors.ts';
import type { Doc } from '../query/types.ts';

/**
 * A place in the history: behind an event, behind the invalidate event that follows it, or a high-water mark between events.
 */
export interface Token {
  seq: number;
  kind: 'mark' | 'event' | 'invalidate';
}

const KINDS = ['mark', 'event', 'invalidate'] as const;
/** Version of the tokens' form. */
const VERSION = '82';

/** `{_data: hex}`; tokens sort as the places they stand for. */
export function encodeToken({ seq, kind }: Token): Doc {
  return {
    _data:
      `${VERSION}${seq.toString(16).padStart(14, '0')}${KINDS.indexOf(kind).toString().padStart(2, '0')}`.toUpperCase(),
  };
}

/** Error 260 for what is not one of this server's tokens. */
export function decodeToken(token: Doc): Token {
  const match = /^82([0-9A-F]{14})0([012])$/.exec(String(token._data));
  const kind = KINDS[Number(match?.[2])];
  if (!match || !kind || Object.keys(token).length !== 1) {
    throw new CommandError(
      'InvalidResumeToken',
      `The resume token is not one of this server: ${JSON.stringify(token)}`,
    );
  }
  return { seq: Number.parseInt(match[1] as string, 16), kind };
}
