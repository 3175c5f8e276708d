import { OPERATOR_TEXTS } from '../domain/limits.ts';
import { type ParsedArguments, UsageError } from './command.ts';
import { harmless } from './terminal.ts';

/** Returns the text of `--reason` on one line. @throws {UsageError} */
export function statedReason(input: ParsedArguments): string {
  const reason = harmless(input.get('reason').replaceAll(/\s+/g, ' ').trim()).toWellFormed();
  if (reason === '' || reason.length > OPERATOR_TEXTS.reason)
    throw new UsageError(`--reason must have 1 to ${OPERATOR_TEXTS.reason} characters`);
  return reason;
}
