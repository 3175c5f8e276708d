import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { InputProblem, Reason } from '../text/errors.ts';
import { placedProblems } from './faults.tsx';
import type { Placed } from './place-findings.ts';

/**
 * Places the problems of a refused invoice beside the fields of its form, and focuses the first field. Once a line is
 * removed, the others have other positions: problems of lines are then shown with those that have no field.
 * @param lines the number of lines of the form
 * @returns null if nothing is refused, or not because of fields
 */
export function useRefused(refusal: Reason | null, lines: number): Placed<InputProblem> | null {
  const problems = (refusal !== null && refusal !== 'unreachable' && refusal.problems) || null;
  const seen = useRef({ problems, lines, stays: true });
  const stays = seen.current.problems !== problems || (seen.current.stays && lines >= seen.current.lines);
  seen.current = { problems, lines, stays };
  const refused = useMemo(() => problems && placedProblems(problems, stays ? lines : 0), [problems, stays ? lines : 0]);
  useEffect(() => {
    const [first] = refused?.beside.keys() ?? [];
    if (first !== undefined) document.getElementById(first)?.focus();
  }, [problems]);
  return refused;
}
