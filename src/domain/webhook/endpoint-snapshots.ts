import type { WebhookEndpoint } from './endpoint.ts';

/**
 * How long an endpoint that was read serves for attempts, in milliseconds. Then it is read again: another process may
 * have disabled it or changed its URL or secret.
 */
const FRESH_MS = 1000;

/**
 * The endpoints of the deliveries in memory, each read at most once a second, however many deliveries it has. If each
 * attempt reads its endpoint, 1,900 instead of 3,100 deliveries a second arrive (bench `webhooks`, medians of 5
 * repeats).
 */
export interface EndpointSnapshots {
  /** Remembers an endpoint. @param readAt when reading it began, UNIX milliseconds */
  note(endpoint: WebhookEndpoint, readAt: number): void;
  /**
   * Returns the endpoint as it was stored at most a second ago, with every change that this process has made. A deleted
   * endpoint is inactive. While the store fails, returns the endpoint as it was last read. Never rejects.
   * @param endpointId an endpoint that was noted and not forgotten
   */
  current(endpointId: string): Promise<WebhookEndpoint>;
  /** To be called when this process has changed or deleted an endpoint. */
  changed(endpointId: string): void;
  forget(endpointId: string): void;
}

interface Snapshot {
  readonly endpoint: WebhookEndpoint;
  readonly readAt: number;
}

export interface SnapshotParts {
  /** Finds an endpoint of any tenant by its id; null when it is deleted. */
  readonly endpointOf: (endpointId: string) => Promise<WebhookEndpoint | null>;
  readonly now: () => Date;
  readonly report: (message: string, error: unknown) => void;
}

export function createEndpointSnapshots({ endpointOf, now, report }: SnapshotParts): EndpointSnapshots {
  const snapshots = new Map<string, Snapshot>();
  const readings = new Map<string, Promise<WebhookEndpoint>>();
  /** The changes that this process made in the last second, in their order. */
  const changes = new Map<string, { readonly at: number }>();

  const time = () => now().getTime();
  const isFresh = ({ endpoint, readAt }: Snapshot) =>
    time() - readAt <= FRESH_MS && readAt > (changes.get(endpoint.id)?.at ?? Number.NEGATIVE_INFINITY);

  function note(endpoint: WebhookEndpoint, readAt: number): void {
    const known = snapshots.get(endpoint.id);
    if (!known || known.readAt <= readAt) snapshots.set(endpoint.id, { endpoint, readAt });
  }

  /** Reads an endpoint, and reads it again if this process changed it meanwhile. */
  async function read({ endpoint }: Snapshot): Promise<WebhookEndpoint> {
    for (;;) {
      const change = changes.get(endpoint.id);
      const readAt = time();
      const found = (await endpointOf(endpoint.id)) ?? { ...endpoint, active: false };
      if (changes.get(endpoint.id) !== change) continue;
      if (snapshots.has(endpoint.id)) note(found, readAt);
      return found;
    }
  }

  return {
    note,
    async current(endpointId) {
      const known = snapshots.get(endpointId);
      if (!known) throw new Error(`the endpoint ${endpointId} was not noted`);
      if (isFresh(known)) return known.endpoint;
      const reading =
        readings.get(endpointId) ??
        read(known)
          .catch((error) => {
            report(`the endpoint ${endpointId} could not be read`, error);
            return known.endpoint;
          })
          .finally(() => readings.delete(endpointId));
      readings.set(endpointId, reading);
      return reading;
    },
    changed(endpointId) {
      const at = time();
      for (const [id, change] of changes) {
        if (at - change.at <= FRESH_MS) break;
        changes.delete(id);
      }
      changes.delete(endpointId);
      changes.set(endpointId, { at });
    },
    forget(endpointId) {
      snapshots.delete(endpointId);
    },
  };
}
