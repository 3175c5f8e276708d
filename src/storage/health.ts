import type { Db } from 'mongodb';
import { every } from '../domain/kit/every.ts';
import { type Outage, outageOf } from './unavailable.ts';

/** What this process knows about outages of the store. */
export interface StoreHealth {
  /**
   * Records a failed operation.
   * @returns whether an outage caused it; the outage is reported once, not with each failure
   */
  noteFailure(failure: unknown): boolean;
  /**
   * Returns why the store cannot be used; null if it can. Probes the store with a write at most every 5 s. Never
   * throws.
   */
  trouble(): Promise<string | null>;
  close(): Promise<void>;
}

export interface HealthReports {
  readonly began: (outage: Outage, reason: string) => void;
  readonly ended: (outage: Outage, seconds: number) => void;
}

const HEALTH_COLLECTION = 'health';
/** How long a successful probe is valid, milliseconds. */
const VALID_MS = 5000;
/** Interval of the probes during an outage, milliseconds. */
const PROBE_MS = 1000;
/**
 * Size of the probe's write, bytes. A full store may still accept very small writes, so the probe writes as much as a
 * signed invoice has.
 */
const ROOM_BYTES = 256 * 1024;

const REASONS: Readonly<Record<Outage, string>> = {
  away: 'the store does not answer',
  full: 'the store is full',
};

/** Detects the begin of an outage by reported failures or a probe, and its end by a probe. */
export function createStoreHealth(db: Db, reports: HealthReports): StoreHealth {
  const probes = db.collection<{ _id: string }>(HEALTH_COLLECTION);
  let outage: { kind: Outage; message: string; since: number } | null = null;
  let wroteAt = Number.NEGATIVE_INFINITY;
  let probing: Promise<string | null> | null = null;
  let stopProbing = async () => {};
  let closed = false;

  function noteFailure(failure: unknown): boolean {
    const kind = outageOf(failure);
    if (kind === null) return false;
    if (outage === null && !closed) {
      outage = { kind, message: (failure as Error).message, since: performance.now() };
      reports.began(kind, outage.message);
      stopProbing = every(PROBE_MS, probe, () => undefined);
    }
    return true;
  }

  /** Probes the store. Concurrent callers share one probe. Never rejects. */
  function probe(): Promise<string | null> {
    probing ??= writeProbe();
    return probing;
  }

  /** Writes the documents of the probe, which are the same for all processes. */
  async function writeProbe(): Promise<string | null> {
    try {
      if (outage?.kind === 'full') {
        await probes.updateOne({ _id: 'room' }, { $set: { filling: Buffer.alloc(ROOM_BYTES) } }, { upsert: true });
        await probes.deleteOne({ _id: 'room' });
      } else await probes.updateOne({ _id: 'write' }, { $set: { at: new Date() } }, { upsert: true });
      wroteAt = performance.now();
      if (outage !== null && !closed) reports.ended(outage.kind, Math.round((wroteAt - outage.since) / 1000));
      outage = null;
      void stopProbing();
      return null;
    } catch (error) {
      if (!noteFailure(error)) return `the store refuses writes: ${(error as Error).message}`;
      return reasonOf(outage);
    } finally {
      probing = null;
    }
  }

  return {
    noteFailure,
    async trouble() {
      if (outage !== null) return reasonOf(outage);
      if (performance.now() - wroteAt < VALID_MS) return null;
      return probe();
    },
    async close() {
      closed = true;
      await stopProbing();
      await probing;
    },
  };
}

function reasonOf(outage: { kind: Outage; message: string } | null): string | null {
  return outage && `${REASONS[outage.kind]}: ${outage.message}`;
}
