import { type Command, INTERRUPTED, InputError, type ParsedArguments } from '../../../src/cli/command.ts';
import { harmless } from '../../../src/cli/terminal.ts';
import { ApiError, CancelledError, FatouraError } from '../../typescript/src/index.ts';
import { isRefused } from '../../typescript/src/retries.ts';

/** Waiting for the decision on an invoice ended before it. The invoice exists. */
export class UndecidedError extends Error {
  readonly invoiceId: string;
  override readonly cause: Error;

  /** @param statement says that the invoice exists, and how to go on */
  constructor(invoiceId: string, statement: string, cause: Error) {
    super(statement);
    this.invoiceId = invoiceId;
    this.cause = cause;
  }
}

/** Says what the service says of a refused request, with --json as an object on standard output. */
export function answering(command: Command): Command {
  return {
    ...command,
    async run(input, context) {
      try {
        return await command.run(input, context);
      } catch (error) {
        if (error instanceof InputError) throw error;
        const { cause } = error instanceof UndecidedError ? error : { cause: error };
        const isInterrupted = cause instanceof CancelledError;
        if (input.has('json')) context.terminal.print(JSON.stringify({ error: factsOf(error as Error) }));
        else if (isInterrupted) context.terminal.remark(textOf(error as Error, input));
        else throw error instanceof FatouraError || cause !== error ? new Error(textOf(error as Error, input)) : error;
        return isInterrupted ? INTERRUPTED : 1;
      }
    },
  };
}

function factsOf(error: Error): object {
  if (error instanceof UndecidedError) return { ...factsOf(error.cause), invoice: error.invoiceId };
  const { code = null, param = null, status = null, requestId = null } = error instanceof ApiError ? error : {};
  const { idempotencyKey = null } = error instanceof FatouraError ? error : {};
  return {
    message: messageOf(error),
    code,
    param,
    status,
    request_id: requestId,
    idempotency_key: idempotencyKey,
    may_be_done: mayBeDone(error),
    invoice: null,
  };
}

function textOf(error: Error, input: ParsedArguments): string {
  if (error instanceof UndecidedError) return `${ended(textOf(error.cause, input))} ${error.message}`;
  const { code, param, requestId } = error instanceof ApiError ? error : {};
  const facts = [code, param && `at ${param}`, requestId].filter(Boolean).join(', ');
  const text = `${messageOf(error)}${facts && ` (${facts})`}${code === 'resource_not_found' ? ' Is it of this environment?' : ''}`;
  return mayBeDone(error) ? `${ended(text)} It may have been done: ask again with ${optionOf(error, input)}.` : text;
}

/** The message of an error, with the command's name of the client's option. */
function messageOf({ message }: Error): string {
  return message.replace(/ is baseUrl right\?$/, ' is --url right?');
}

/** A text as a whole sentence. */
function ended(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

/** Whether a creation or correction may have been made though it failed. */
function mayBeDone(error: Error): error is FatouraError & { readonly idempotencyKey: string } {
  if (!(error instanceof FatouraError) || error.idempotencyKey === undefined) return false;
  return error.mayBeDone ?? !isRefused(error);
}

/** The option by which the same command makes nothing twice. */
function optionOf({ idempotencyKey }: { readonly idempotencyKey: string }, input: ParsedArguments): string {
  const order = input.find('order');
  // A key that is stated precedes the order's. The key of an order is one that can be typed.
  const isOrder = order !== null && input.find('idempotency-key') === null && harmless(order) === order;
  const [option, value] = isOrder ? ['--order', order] : ['--idempotency-key', idempotencyKey];
  // What begins with a hyphen would be read as an option.
  return `${option}${value.startsWith('-') ? '=' : ' '}${quoted(value)}`;
}

/** Quotes a word for a shell if it needs that. */
export function quoted(word: string): string {
  return /^[\w.:-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
