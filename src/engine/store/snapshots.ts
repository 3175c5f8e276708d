import type { Timestamp } from 'bson';
import { CommandError } from '../errors.ts';
import { type Oplog, seqOf } from './oplog.ts';
import { Snapshot, type Versions } from './versions.ts';

/** Milliseconds that a snapshot stays readable after its first read (MongoDB's `minSnapshotHistoryWindowInSeconds`). */
const WINDOW_MS = 300_000;
const MAX_KEPT = 1000;

interface KeptSnapshot {
  seq: number;
  snapshot: Snapshot;
  until: number;
}

/** The snapshots of reads outside transactions. Each stays readable for five minutes. */
export class Snapshots {
  readonly #versions: Versions;
  readonly #oplog: Oplog;
  readonly #kept = new Map<number, KeptSnapshot>();

  constructor(versions: Versions, oplog: Oplog) {
    this.#versions = versions;
    this.#oplog = oplog;
  }

  /**
   * Returns the snapshot at a cluster time, or a new one of the current data. Error 239 for a time whose snapshot was
   * not kept.
   */
  at(time: Timestamp | undefined): KeptSnapshot {
    this.expire(Date.now());
    const seq = time ? seqOf(time) : this.#oplog.last;
    const kept = this.#kept.get(seq) ?? (seq === this.#oplog.last ? this.#keep(seq) : undefined);
    if (kept) return kept;
    throw new CommandError(
      'SnapshotTooOld',
      'Read timestamp from readConcern.atClusterTime is older than the oldest available timestamp',
    );
  }

  /** Releases the snapshots that have expired at `now` (milliseconds since the epoch). */
  expire(now: number): void {
    for (const kept of this.#kept.values()) if (kept.until <= now) this.#release(kept);
  }

  #keep(seq: number): KeptSnapshot {
    const [oldest] = this.#kept.values();
    if (oldest && this.#kept.size >= MAX_KEPT) this.#release(oldest);
    const pin = this.#versions.pin(() => this.#release(kept));
    const kept: KeptSnapshot = { seq, snapshot: new Snapshot(pin), until: Date.now() + WINDOW_MS };
    this.#kept.set(seq, kept);
    return kept;
  }

  #release(kept: KeptSnapshot): void {
    this.#kept.delete(kept.seq);
    kept.snapshot.lost = true;
    this.#versions.release(kept.snapshot.pin);
  }
}
