import type { ExecutionArgs, ExecutionResult, GraphQLError } from 'graphql';
import { isAsyncIterable, type Plugin } from 'graphql-yoga';
import type { Context } from 'koa';
import { resultText } from '../graphql/answer-text.ts';
import { abandonAnswer } from './abandon.ts';
import { EVENT_STREAM_HEADERS } from './event-stream.ts';
import { type Message, messageOf, type Source, withEscapedLineEnds } from './open-stream.ts';
import type { Subscribe } from './running-documents.ts';
import { whenGone } from './when-gone.ts';

/** The server context of a request to Yoga. */
export interface YogaServerContext {
  readonly ctx: Context;
  /** The parsed body of a POST; undefined if it is not JSON. */
  body?: unknown;
  /** Set when the prepared path has refused the request. */
  refusal?: GraphQLError;
  /**
   * The results of a subscription, before Yoga wraps them: the wrapper would keep the whole request. An object, because
   * Yoga copies this context.
   */
  readonly subscription: { results: AsyncIterable<ExecutionResult> | null };
  /** Whether the client accepts Server-Sent Events, which Yoga would send. */
  accepted?: true;
  /** The result of a query or mutation that is sent as an event. */
  single?: ExecutionResult;
}

/**
 * Puts the results of a subscription into the server context instead of letting Yoga send them. Yoga's sender stops its
 * heartbeats permanently when a client is slow, waits without limit for a client that does not read, and does not
 * notice a client that disconnected before the start.
 */
export const eventStreaming = (subscribe: Subscribe): Plugin<YogaServerContext, YogaServerContext> => ({
  onSubscribe({ setSubscribeFn }) {
    setSubscribeFn(async (args: ExecutionArgs) => {
      const { ctx, subscription } = args.contextValue as YogaServerContext;
      const results = await subscribe(args, () => abandonAnswer(ctx.res));
      if (!isAsyncIterable(results)) return results;
      whenGone(ctx.res, () => void results.return(undefined));
      subscription.results = results;
      return results;
    });
  },
  onResultProcess({ result, resultProcessor, setResult, setResultProcessor, serverContext }) {
    if (Array.isArray(result) || !resultProcessor) return;
    if (isAsyncIterable(result)) serverContext.accepted = true;
    // Yoga would copy a large result five times. It does not say which of its processors it has chosen.
    else if (resultProcessor.name === 'processSSEResult' && !result.errors) serverContext.single = result;
    else return setResult({ ...result, stringify: resultText });
    setResultProcessor((_, { Response }) => new Response(null, { headers: EVENT_STREAM_HEADERS }), 'text/event-stream');
  },
});

const LAST_MESSAGE = 'event: complete\ndata:\n\n';

/**
 * Converts results to an event stream in Yoga's format, which is also that of graphql-sse's distinct connections mode.
 * @param shown converts a result to what clients may see
 */
export function asEventStream(
  results: ExecutionResult | AsyncIterable<ExecutionResult>,
  shown: (result: ExecutionResult) => ExecutionResult = (result) => result,
): Source<ExecutionResult> {
  return {
    values: isAsyncIterable(results) ? results[Symbol.asyncIterator]() : singleResult(results),
    print: (result) => sharedMessageOf(result, shown),
    last: LAST_MESSAGE,
  };
}

/** Returns the messages of a query or mutation: its result and the end. */
export function singleEvent(result: ExecutionResult): Buffer {
  return withEscapedLineEnds(Buffer.from(`event: next\ndata: ${resultText(result)}\n\n${LAST_MESSAGE}`));
}

/**
 * The messages of results that several streams share. With them, an event reaches all streams after 68 ms; with one
 * message per stream, after 88 ms (p99, bench `streams -- --quick`).
 */
const messages = new WeakMap<ExecutionResult, Message>();

/** Returns the message of a result, made once for all streams that share the result. Errors differ for each stream. */
function sharedMessageOf(result: ExecutionResult, shown: (result: ExecutionResult) => ExecutionResult): Message | null {
  const known = messages.get(result);
  if (known) return known;
  const message = messageOf(`event: next\ndata: ${resultText(shown(result))}\n\n`);
  if (message && !result.errors) messages.set(result, message);
  return message;
}

/** A stream with one result. */
export async function* singleResult(result: ExecutionResult): AsyncGenerator<ExecutionResult> {
  yield result;
}
