import { serviceError } from '../../errors.ts';
import { CONTENT_LIMITS } from './draft.ts';

/**
 * Returns the text under which the content of a draft is stored. Any object is accepted up to `CONTENT_LIMITS`, because
 * a draft takes whatever can be typed.
 * @throws {ServiceError} invalid_request
 */
export function contentText(content: unknown): string {
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    throw invalid('must be an object with members of an invoice');
  // Before the text is made: that recurses as deep as the value.
  if (isDeeper(content, CONTENT_LIMITS.depth))
    throw invalid(`has more than ${CONTENT_LIMITS.depth} levels of objects and lists`);
  const text = JSON.stringify(content);
  if (Buffer.byteLength(text) > CONTENT_LIMITS.bytes)
    throw invalid(`is larger than ${CONTENT_LIMITS.bytes / 1024} KiB as JSON`);
  return text;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
}

function invalid(what: string) {
  return serviceError('invalid_request', `content ${what}.`, 'content');
}
