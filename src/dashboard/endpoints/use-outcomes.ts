import { useEvery } from '../interface/use-every.ts';
import type { Delivery } from './documents.ts';

type Outcome = Pick<Delivery, 'state' | 'nextAttemptAt'>;

/** Interval of reading while an attempt is under way, milliseconds. */
const OUTCOME_MS = 3000;

/** Reloads while an attempt of a shown delivery is due or under way, because no event reports its outcome. */
export function useOutcomes(shown: readonly Outcome[], reload: () => void): void {
  useEvery(OUTCOME_MS, () => {
    if (shown.some(isUnderWay)) reload();
  });
}

function isUnderWay({ state, nextAttemptAt }: Outcome): boolean {
  return state === 'pending' && (nextAttemptAt === null || Date.parse(nextAttemptAt) <= Date.now());
}
