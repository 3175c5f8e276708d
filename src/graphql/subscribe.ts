import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  getOperationAST,
  OperationTypeNode,
} from 'graphql';
import { boundedAnswer, READING } from './bounded-answer.ts';
import { type CompiledOperation, createCompiler } from './compiled-queries.ts';
import type { GraphQLContext } from './context.ts';
import { sharedName, sharedResult } from './shared-results.ts';
import { declaredVariables } from './variable-faults.ts';

/**
 * Returns the same results as graphql-js's `subscribe`. From the second subscription on, a document runs compiled,
 * because one event may go to thousands of streams. Streams share results that are the same for all of them
 * (docs/decisions/0023). After an error, graphql-js runs the document again and reports the error.
 * @param paced delays events until their results may be made
 * @param hold called at the start with a function that ends the subscription; returns a function to call at its end
 * @param drop closes the connection that gets the results, because the source ended before the subscription was
 *   complete
 */
export async function subscribe(
  args: ExecutionArgs,
  paced = (events: AsyncIterator<unknown>) => events,
  hold: (end: () => void) => () => void = () => () => undefined,
  drop: () => void = () => undefined,
): Promise<ExecutionResult | AsyncGenerator<ExecutionResult>> {
  const kept = neededOf(args);
  const source = await createSourceEventStream(kept);
  if (!(Symbol.asyncIterator in source)) return source;
  return new Results(paced(source[Symbol.asyncIterator]()), kept, hold, drop);
}

/**
 * Returns the arguments that a subscription needs while it runs. Its request may have 1 MiB and more of other data:
 * other variables, extensions, the name of the operation, headers.
 */
function neededOf({ schema, document, operationName, variableValues, contextValue }: ExecutionArgs): ExecutionArgs {
  const operation = getOperationAST(document, operationName);
  const { principal, requestId, useCases } = contextValue as GraphQLContext;
  return {
    schema,
    document,
    // A part of the document's text.
    operationName: operation?.name?.value ?? null,
    variableValues: declaredVariables(operation, variableValues ?? {}),
    contextValue: { principal, requestId, useCases } satisfies GraphQLContext,
  };
}

/** The results of a subscription. A class, not closures, because a process holds tens of thousands. */
class Results implements AsyncGenerator<ExecutionResult> {
  readonly #events: AsyncIterator<unknown>;
  readonly #args: ExecutionArgs;
  /** The key of shared results; null if no other stream may use them. */
  readonly #shared: string | null;
  readonly #compiles: boolean;
  readonly #drop: () => void;
  #release: () => void = () => undefined;

  constructor(
    events: AsyncIterator<unknown>,
    args: ExecutionArgs,
    hold: (end: () => void) => () => void,
    drop: () => void,
  ) {
    this.#drop = drop;
    const { document, operationName = null } = args;
    this.#events = events;
    this.#args = args;
    // Only a document that is used again is worth compiling.
    this.#compiles = seen.has(document);
    seen.add(document);
    this.#shared = sharedName(document, operationName, contextOf(args).principal);
    this.#release = hold(() => void this.return());
  }

  next(): Promise<IteratorResult<ExecutionResult>> {
    return this.#events.next().then(this.#take);
  }

  /**
   * Not an async function, because it runs for each stream and event, and another stream has usually made the result
   * already.
   */
  readonly #take = ({
    done,
    value,
  }: IteratorResult<unknown>): IteratorResult<ExecutionResult> | Promise<IteratorResult<ExecutionResult>> => {
    if (done) {
      this.#release();
      // The reason why the source ended early.
      if (value !== undefined) this.#drop();
      return { done, value: undefined };
    }
    const run = () => this.#run(value);
    const event = this.#shared === null ? null : eventOf(value);
    const result = this.#shared && event ? sharedResult(event, this.#shared, run) : run();
    return result instanceof Promise ? result.then(resultOf) : resultOf(result);
  };

  #run(event: unknown): Promise<ExecutionResult> {
    const args = this.#args;
    return boundedAnswer(READING, contextOf(args), async (contextValue) => {
      const result = await this.#compiled()?.run(contextValue, args.variableValues ?? {}, event);
      return result ?? execute({ ...args, contextValue, rootValue: event });
    });
  }

  /** Looks up the compiled document each time, because the cache of compiled documents bounds their memory. */
  #compiled(): CompiledOperation | null {
    const { document, operationName = null } = this.#args;
    return this.#compiles ? compile(document, operationName) : null;
  }

  /** Ends the stream even while `next` is pending. The `return` of a generator would wait for `next`. */
  async return(): Promise<IteratorReturnResult<undefined>> {
    this.#release();
    await this.#events.return?.();
    return { done: true, value: undefined };
  }

  async throw(error: unknown): Promise<never> {
    await this.return();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }
}

const resultOf = (value: ExecutionResult): IteratorResult<ExecutionResult> => ({ done: false, value });

function contextOf({ contextValue }: ExecutionArgs): GraphQLContext {
  return contextValue as GraphQLContext;
}

/** Returns the event of a source's value. All streams get the same object from the feed. */
function eventOf(value: unknown): object | null {
  const event = (value as { readonly event?: unknown } | null)?.event;
  return typeof event === 'object' ? event : null;
}

const compile = createCompiler(OperationTypeNode.SUBSCRIPTION);
const seen = new WeakSet<DocumentNode>();
