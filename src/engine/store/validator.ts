import { CommandError } from '../errors.ts';
import { compileFilter } from '../query/match.ts';
import type { Doc } from '../query/types.ts';
import { compileExplanation, meets } from '../query/unmet-conditions.ts';
import type { Collection } from './catalog.ts';

/**
 * Throws for a document that the collection's validator refuses.
 * @param before the document before the change; undefined for a new document
 * @throws CommandError 121, with `errInfo: {failingDocumentId, details}`
 */
export type Validate = (doc: Doc, before?: Doc) => void;

/**
 * Compiles the `validator` of a collection for one command, because each command has its own time limit for regular
 * expressions and its own `$$NOW`. With the `validationLevel` `moderate`, a document that did not match before a change
 * need not match after it.
 * @param isBypassed whether the command asks to skip validation
 * @returns undefined if the command may write every document
 */
export function compileValidator({ options }: Collection, isBypassed: boolean): Validate | undefined {
  const validator = options.validator as Doc | undefined;
  if (isBypassed || !validator || options.validationLevel === 'off') return undefined;
  const matches = compileFilter(validator);
  let explain: ReturnType<typeof compileExplanation> | undefined;
  return (doc, before) => {
    if (meets(matches, doc)) return;
    if (options.validationLevel === 'moderate' && before && !meets(matches, before)) return;
    explain ??= compileExplanation(validator);
    const { details, isTruncated } = explain(doc);
    throw new CommandError('DocumentValidationFailure', 'Document failed validation', {
      errInfo: { failingDocumentId: doc._id, ...(isTruncated ? { truncated: true } : {}), details },
    });
  };
}
