/** A client is taken to be still there for this long after its request, milliseconds. */
const RECENT_MS = 250;

/** Whether this process answers clients, so that its background work leaves them room. */
export interface ClientActivity {
  /** Takes note of a request. @param route the pattern of its route; only those of the API count */
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
