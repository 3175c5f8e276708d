import { LANES, type Lane, type LaneGate } from '../domain/invoice/lanes.ts';

/**
 * Makes a gate with the places that `LANES` states: fewer while clients are answered, because runs that begin at the
 * same time together delay an answer.
 */
export function fixedGate(lane: Lane, isAnswering: () => boolean): LaneGate {
  const places = () => (isAnswering() ? LANES[lane].besideClients : LANES[lane].places);
  return {
    places,
    free: (running) => places() - running,
    reserve: async () => true,
    cancel: () => undefined,
    onChange: () => undefined,
  };
}
