import { type Command, InputError, type ParsedArguments } from '../../../src/cli/command.ts';
import { ApiError, FatouraError, NotFoundError } from '../../typescript/src/index.ts';

/** Says what the service says of a refused request, with --json as an object on standard output. */
export function answering(command: Command): Command {
  return {
    ...command,
    async run(input, context) {
      try {
        return await command.run(input, context);
      } catch (error) {
        if (input.has('json') && !(error instanceof InputError)) {
          context.terminal.print(JSON.stringify({ error: factsOf(error as Error) }));
          return 1;
        }
        if (!(error instanceof FatouraError)) throw error;
        const again = mayBeDone(error) ? ` It may have been done: ask again with ${optionOf(error, input)}.` : '';
        throw new Error(`${textOf(error)}${again}`);
      }
    },
  };
}

function factsOf(error: Error): object {
  const { code = null, param = null, status = null, requestId = null } = error instanceof ApiError ? error : {};
  const { idempotencyKey = null } = error instanceof FatouraError ? error : {};
  return { message: error.message, code, param, status, request_id: requestId, idempotency_key: idempotencyKey };
}

function textOf(error: FatouraError): string {
  if (!(error instanceof ApiError)) return error.message;
  const { code, param, requestId, message } = error;
  const facts = [code, param && `at ${param}`, requestId].filter(Boolean).join(', ');
  return `${message} (${facts})${error instanceof NotFoundError ? ' Is it of this environment?' : ''}`;
}

/** Whether a creation or correction may have been made though it failed. */
function mayBeDone(error: FatouraError): boolean {
  const isRefused = error instanceof ApiError && error.status < 500;
  return error.idempotencyKey !== undefined && !isRefused;
}

/** The option by which the same command makes nothing twice. */
function optionOf({ idempotencyKey }: FatouraError, input: ParsedArguments): string {
  const order = input.find('order');
  return order === null ? `--idempotency-key ${quoted(idempotencyKey ?? '')}` : `--order ${quoted(order)}`;
}

/** Quotes a word for a shell if it needs that. */
function quoted(word: string): string {
  return /^[\w.:-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
