/** Attempts under way in this process that may soon end; those that may well hang (retries, endpoints that keep failing) get half of it at most. */
const PLACES = 512;
/** An attempt that is not over after so long hangs: it keeps its own lane's place only, and one of these many instead of one of those. */
const HANGS_AFTER_MS = 1000;
const HANGING = 1536;

/** `doubtful`: an attempt that may well hang. */
export type AttemptKind = 'sound' | 'doubtful';

export interface Place {
  readonly kind: AttemptKind;
  /** When it was taken, milliseconds of the monotonic clock. */
  readonly at: number;
}

/**
 * How many attempts may be under way at once, all lanes together. It bounds sockets and memory; receivers that hang can not use it up for the
 * others, however many there are of them below {@link HANGING} attempts.
 */
export interface Places {
  /** null when there is none: `whenFree` is called when there may be one that nobody gave back. */
  take(kind: AttemptKind): Place | null;
  giveBack(place: Place): void;
  close(): void;
}

export function createPlaces(whenFree: () => void): Places {
  const free = { all: PLACES, doubtful: PLACES / 2 };
  /** In the order in which they were taken. */
  const prompt = new Set<Place>();
  const hanging = new Set<Place>();
  let timer: NodeJS.Timeout | null = null;

  const has = (kind: AttemptKind) => free.all > 0 && (kind === 'sound' || free.doubtful > 0);

  function vacate(place: Place): void {
    prompt.delete(place);
    free.all++;
    if (place.kind === 'doubtful') free.doubtful++;
  }

  function setHangingApart(): void {
    const before = performance.now() - HANGS_AFTER_MS;
    for (const place of prompt) {
      if (place.at > before || hanging.size >= HANGING) return;
      vacate(place);
      hanging.add(place);
    }
  }

  return {
    take(kind) {
      if (!has(kind)) setHangingApart();
      if (!has(kind)) {
        timer ??= setTimeout(() => {
          timer = null;
          whenFree();
        }, HANGS_AFTER_MS);
        return null;
      }
      free.all--;
      if (kind === 'doubtful') free.doubtful--;
      const place = { kind, at: performance.now() };
      prompt.add(place);
      return place;
    },
    giveBack(place) {
      if (!hanging.delete(place)) vacate(place);
    },
    close() {
      if (timer) clearTimeout(timer);
    },
  };
}
