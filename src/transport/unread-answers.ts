import { createMemoryBudget, type MemoryBudget } from '../domain/kit/memory-budget.ts';

/** Maximum number of bytes that wait for clients, in total. */
const UNREAD_BYTES = 64 * 1024 * 1024;
/** The size in bytes from which answers are counted. A smaller one costs little more than its connection. */
export const COUNTED_BYTES = 64 * 1024;

/**
 * Creates the budget of the memory that waits for clients in this process, by sharer and caller (`sharerOf`,
 * `callerOf`; both empty without a credential): answers and messages of streams that clients have not read, operations
 * whose results they are not ready to read, and documents of running subscriptions.
 */
export function createUnreadAnswers(limit = UNREAD_BYTES): MemoryBudget {
  return createMemoryBudget(limit, 'oldest');
}
