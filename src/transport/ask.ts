import type { Context } from 'koa';
import type { RequestState } from './state.ts';

/**
 * Runs a check of who sent a request and what they may do, and remembers it. A body may arrive up to a minute later,
 * when the result may have changed, so `readBytes` runs the check again once the body is complete
 * (docs/decisions/0020). If the body arrived together with the headers, the check runs only once.
 * @param question the check, run immediately and perhaps again; throws a refusal, also the second time
 */
export function ask<Answer>(ctx: Context, question: () => Promise<Answer>): Promise<Answer> {
  const state = ctx.state as RequestState;
  const asked = { put: question, isLate: false };
  state.questions = [...(state.questions ?? []), asked];
  // Reads have no body to wait for.
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return question();
  // A body that came in the same packet is parsed before the next phase of the event loop.
  setImmediate(() => {
    asked.isLate = !ctx.req.complete;
  });
  return question();
}

/** Repeats the checks that ran before the body was complete. @throws the refusal of a check */
export async function askAgain(ctx: Context): Promise<void> {
  const late = questionsOf(ctx).filter(({ isLate }) => isLate);
  for (const each of late) each.isLate = false;
  for (const { put } of late) await put();
}

/** Repeats all checks, for work that has waited since. @throws the refusal of a check */
export async function askOnceMore(ctx: Context): Promise<void> {
  for (const { put } of questionsOf(ctx)) await put();
}

function questionsOf(ctx: Context) {
  return (ctx.state as RequestState).questions ?? [];
}
