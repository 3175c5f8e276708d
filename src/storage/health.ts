import type { Db } from 'mongodb';
import { type Outage, outageOf } from './unavailable.ts';

/** Whether the store can be used, as this process knows it. */
export interface StoreHealth {
  /** Is told of failures. @returns whether it is an outage of the store, which is reported once, not with each failure */
  noted(failure: unknown): boolean;
  /** What keeps the service from its work; null: nothing. Asks the store for a write at most every 5 s. Never throws. */
  trouble(): Promise<string | null>;
  close(): Promise<void>;
}

export interface HealthReports {
  readonly began: (outage: Outage, reason: string) => void;
  readonly ended: (outage: Outage, seconds: number) => void;
}

export const HEALTH_COLLECTION = 'health';
/** How old the knowledge may be that the store takes writes, milliseconds. */
const KNOWN_MS = 5000;
/** How often an outage is looked at for its end, milliseconds. */
const LOOK_MS = 1000;
/** A full store takes very small writes now and then: it is well again when it takes one of the size of a signed invoice. */
const ROOM_BYTES = 256 * 1024;

const REASONS: Readonly<Record<Outage, string>> = {
  away: 'the store does not answer',
  full: 'the store has no room left to write',
};

/** Knows an outage from the failures that it is told of, or by asking, and its end by asking. */
export function createStoreHealth(db: Db, reports: HealthReports): StoreHealth {
  const marks = db.collection<{ _id: string }>(HEALTH_COLLECTION);
  let outage: { kind: Outage; message: string; since: number } | null = null;
  let wroteAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<string | null> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let closed = false;

  function noted(failure: unknown): boolean {
    const kind = outageOf(failure);
    if (kind === null) return false;
    if (outage === null && !closed) {
      outage = { kind, message: (failure as Error).message, since: performance.now() };
      reports.began(kind, outage.message);
      look();
    }
    return true;
  }

  function look(): void {
    timer = setTimeout(async () => {
      await asked();
      if (outage !== null && !closed) look();
    }, LOOK_MS).unref();
  }

  function asked(): Promise<string | null> {
    asking ??= ask();
    return asking;
  }

  /** Writes. A mark is one document, whichever process writes it. */
  async function ask(): Promise<string | null> {
    try {
      if (outage?.kind === 'full') {
        await marks.updateOne({ _id: 'room' }, { $set: { filling: Buffer.alloc(ROOM_BYTES) } }, { upsert: true });
        await marks.deleteOne({ _id: 'room' });
      } else await marks.updateOne({ _id: 'write' }, { $set: { at: new Date() } }, { upsert: true });
      wroteAt = performance.now();
      if (outage !== null && !closed) reports.ended(outage.kind, Math.round((wroteAt - outage.since) / 1000));
      outage = null;
      return null;
    } catch (error) {
      if (!noted(error)) return `the store does not take a write: ${(error as Error).message}`;
      return reasonOf(outage);
    } finally {
      asking = null;
    }
  }

  return {
    noted,
    async trouble() {
      if (outage !== null) return reasonOf(outage);
      if (performance.now() - wroteAt < KNOWN_MS) return null;
      return asked();
    },
    async close() {
      closed = true;
      if (timer) clearTimeout(timer);
      await asking;
    },
  };
}

function reasonOf(outage: { kind: Outage; message: string } | null): string | null {
  return outage && `${REASONS[outage.kind]}: ${outage.message}`;
}
