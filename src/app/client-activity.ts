/** A client counts as active for this long after its request, milliseconds. */
const RECENT_MS = 250;

/** Reports whether this process is serving clients, so that its background work leaves them resources. */
export interface ClientActivity {
  /** Records a request. @param route the pattern of its route; only routes of the API count */
  note(route: string): void;
  isRecent(): boolean;
}

export function createClientActivity(): ClientActivity {
  let last = Number.NEGATIVE_INFINITY;
  return {
    note(route) {
      if (route.startsWith('/v1/') || route === '/graphql') last = performance.now();
    },
    isRecent: () => performance.now() - last < RECENT_MS,
  };
}
