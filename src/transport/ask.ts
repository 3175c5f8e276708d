import type { Context } from 'koa';
import type { RequestState } from './state.ts';

/**
 * Asks who sent a request and what they may do. A body may arrive up to a minute later, when the answer may be another
 * one, so `readBytes` asks again once the body is complete (docs/decisions/0020). Where the body came with the headers,
 * the question was put after it, and is put once.
 * @param question asked at once, and perhaps again; throws a refusal, also the second time
 */
export function ask<Answer>(ctx: Context, question: () => Promise<Answer>): Promise<Answer> {
  const state = ctx.state as RequestState;
  const asked = { put: question, isLate: false };
  state.questions = [...(state.questions ?? []), asked];
  // Nothing waits for the body of a read.
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return question();
  // What came in one packet is parsed before the next phase of the event loop.
  setImmediate(() => {
    asked.isLate = !ctx.req.complete;
  });
  return question();
}

/** Asks again what was asked before the body was complete. @throws the refusal of a question */
export async function askAgain(ctx: Context): Promise<void> {
  const late = questionsOf(ctx).filter(({ isLate }) => isLate);
  for (const each of late) each.isLate = false;
  for (const { put } of late) await put();
}

/** Asks everything once more, for work that has waited since. @throws the refusal of a question */
export async function askOnceMore(ctx: Context): Promise<void> {
  for (const { put } of questionsOf(ctx)) await put();
}

function questionsOf(ctx: Context) {
  return (ctx.state as RequestState).questions ?? [];
}
