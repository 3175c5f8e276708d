import type { Condition } from '../domain/conditions/condition.ts';
import { CONDITIONS, countText } from '../domain/conditions/condition-table.ts';
import type { Finding } from './doctor-checks.ts';

/** Maximum number of objects that a line lists. */
const NAMED = 3;

/**
 * Reports the conditions of a running installation that `/ops` shows. Each is a warning, because the installation can
 * run nevertheless.
 * @param read throws if the store cannot be opened, which has its own finding
 */
export async function checkConditions(read: () => Promise<readonly Condition[]>): Promise<Finding[]> {
  const subject = 'conditions';
  const found = await read().catch(() => []);
  if (found.length === 0) return [{ subject, state: 'works', found: 'nothing needs attention' }];
  return found.map((condition) => ({
    subject,
    state: 'warns',
    found: conditionText(condition),
    advice: CONDITIONS[condition.code].advice.en,
  }));
}

/** Writes a condition on one line: `Failing webhook endpoints: 2 (since 2026-11-30T08:00:00Z): a.example.com; …`. */
export function conditionText(condition: Condition): string {
  const { code, since, subjects, count } = condition;
  const named = subjects.slice(0, NAMED).map(({ id, name }) => (name === null ? id : `${id} ${name}`));
  const others = count > named.length ? '; …' : '';
  const says = CONDITIONS[code].says.en;
  const when = since ? ` (since ${since.toISOString().slice(0, 19)}Z)` : '';
  return named.length === 0
    ? `${says}${when}`
    : `${says}: ${countText(condition)}${when}: ${named.join('; ')}${others}`;
}
