import { CommandError } from '../errors.ts';
import { compileFilter, type Matcher } from '../query/match.ts';
import type { Doc } from '../query/types.ts';
import { unmetConditions } from '../query/unmet-conditions.ts';
import type { Collection } from './catalog.ts';

/** By the validator in a collection's options, which is another object after each change. */
const matchers = new WeakMap<Doc, Matcher>();

/**
 * Refuses a document that the collection's `validator` does not match, unless its `validationLevel` is `off`. With
 * `moderate`, a document that did not match before it was changed may stay so.
 * @param before the document before the change; undefined for a new one
 * @throws CommandError 121, with `errInfo: {failingDocumentId, details}`
 */
export function checkValid({ options }: Collection, doc: Doc, before?: Doc): void {
  const validator = options.validator as Doc | undefined;
  if (!validator || options.validationLevel === 'off') return;
  const isValid = matcherOf(validator);
  if (isValid(doc)) return;
  if (options.validationLevel === 'moderate' && before && !isValid(before)) return;
  throw new CommandError('DocumentValidationFailure', 'Document failed validation', {
    errInfo: { failingDocumentId: doc._id, details: unmetConditions(validator, doc) },
  });
}

function matcherOf(validator: Doc): Matcher {
  let matcher = matchers.get(validator);
  if (!matcher) {
    matcher = compileFilter(validator);
    matchers.set(validator, matcher);
  }
  return matcher;
}
