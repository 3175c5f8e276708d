import type { ExecutionResult, GraphQLError } from 'graphql';
import { isAsyncIterable, type Plugin } from 'graphql-yoga';
import type { Context } from 'koa';
import { resultText } from '../graphql/answer-text.ts';
import { subscribe } from '../graphql/subscribe.ts';
import type { Source } from './event-stream.ts';
import { whenGone } from './when-gone.ts';

/** What a request to Yoga carries besides itself. */
export interface YogaServerContext {
  readonly ctx: Context;
  /** Why it is not answered, where the prepared path has found that out. */
  refusal?: GraphQLError;
  /** A subscription's results, once Yoga has them and would send them as Server-Sent Events. */
  results?: AsyncIterable<ExecutionResult>;
}

/**
 * Leaves a subscription's results in the server context instead of sending them: Yoga's own sender stops its heartbeats for good once a
 * client is slow, waits for ever for one that does not read, and does not notice one that went before it began.
 */
export const eventStreaming: Plugin<{ ctx: Context }, YogaServerContext> = {
  onSubscribe({ setSubscribeFn }) {
    setSubscribeFn(subscribe);
    return {
      onSubscribeResult({ args, result }) {
        if (isAsyncIterable(result)) whenGone(args.contextValue.ctx.res, () => void result.return?.());
      },
    };
  },
  onResultProcess({ result, resultProcessor, setResult, setResultProcessor, serverContext }) {
    if (!isAsyncIterable(result) && !Array.isArray(result)) setResult({ ...result, stringify: resultText });
    if (!resultProcessor || !isAsyncIterable(result)) return;
    setResultProcessor((results, { Response }) => {
      serverContext.results = results as AsyncIterable<ExecutionResult>;
      return new Response(null);
    }, 'text/event-stream');
  },
};

/** Results as Yoga sends them, which is also graphql-sse's distinct connections mode. @param shown what clients see of a result */
export function printed(
  results: ExecutionResult | AsyncIterable<ExecutionResult>,
  shown: (result: ExecutionResult) => ExecutionResult = (result) => result,
): Source<ExecutionResult> {
  return {
    values: isAsyncIterable(results) ? results[Symbol.asyncIterator]() : only(results),
    print: (result) => `event: next\ndata: ${resultText(shown(result))}\n\n`,
    last: 'event: complete\ndata:\n\n',
  };
}

/** A result as a stream of its own. */
export async function* only(result: ExecutionResult): AsyncGenerator<ExecutionResult> {
  yield result;
}
