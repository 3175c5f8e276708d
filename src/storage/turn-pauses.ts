/** The pauses between attempts to take a turn, milliseconds. */
export interface TurnPauses {
  readonly first: number;
  readonly longest: number;
}

/**
 * Generates the pauses between attempts to take a turn that another process has, milliseconds: each longer than the one
 * before, and random by half, so that processes that wait for the same turn do not try at the same time.
 */
export function* turnPauses({ first, longest }: TurnPauses): Generator<number, never> {
  for (let pause = first; ; pause = Math.min(pause * 1.5, longest)) yield pause * (0.5 + Math.random());
}
