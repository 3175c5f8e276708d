import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  OperationTypeNode,
} from 'graphql';
import { boundedAnswer, boundsOf } from './bounded-answer.ts';
import { type CompiledOperation, createCompiler } from './compiled-queries.ts';
import type { GraphQLContext } from './context.ts';
import { withParams } from './variable-faults.ts';

/**
 * Returns the same results as graphql-js's `subscribe`. From the second subscription on, a document runs compiled,
 * because one event may go to thousands of streams. After an error graphql-js runs it again and reports the error.
 */
export async function subscribe(args: ExecutionArgs): Promise<ExecutionResult | AsyncGenerator<ExecutionResult>> {
  const source = await createSourceEventStream(args);
  if (!(Symbol.asyncIterator in source)) return withParams(source, args);
  const events = source[Symbol.asyncIterator]();
  const compiled = compiledOf(args.document, args.operationName ?? null);
  const context = args.contextValue as GraphQLContext;
  const variables = args.variableValues ?? {};
  const bounds = boundsOf(args.document, args.operationName, variables);

  async function resultOf(event: unknown): Promise<ExecutionResult> {
    return boundedAnswer(compiled?.bounds ?? bounds, context, async (contextValue) => {
      const result = await compiled?.run(contextValue, variables, event);
      return result ?? execute({ ...args, contextValue, rootValue: event });
    });
  }
  async function end() {
    await events.return?.();
    return { done: true, value: undefined } as const;
  }
  const results: AsyncGenerator<ExecutionResult> = {
    async next() {
      const { done, value } = await events.next();
      return done ? { done, value: undefined } : { done: false, value: await resultOf(value) };
    },
    // Ends the stream even while `next` is pending; a generator's own `return` would wait for it.
    return: end,
    async throw(error) {
      await end();
      throw error;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
    async [Symbol.asyncDispose]() {
      await end();
    },
  };
  return results;
}

const compile = createCompiler(OperationTypeNode.SUBSCRIPTION);
const seen = new WeakSet<DocumentNode>();

/** Null for the first subscription to a document: only a document that is used again is worth compiling. */
function compiledOf(document: DocumentNode, operationName: string | null): CompiledOperation | null {
  if (seen.has(document)) return compile(document, operationName);
  seen.add(document);
  return null;
}
