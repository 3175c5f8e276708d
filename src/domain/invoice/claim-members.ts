import type { Heartbeat } from '../live-workers.ts';

/**
 * Stores the heartbeats of the workers that divide the partitions of the invoices among themselves. Each method is
 * atomic.
 */
export interface ClaimMembers {
  /** Stores a heartbeat. @returns the heartbeats of all workers, including this one */
  heartbeat(heartbeat: Heartbeat): Promise<readonly Heartbeat[]>;
  /** Reads the heartbeats of all workers. */
  list(): Promise<readonly Heartbeat[]>;
  /** Removes a worker, unless its heartbeat is no longer the one of `at`. @param at null removes it in any case */
  forget(workerId: string, at: Date | null): Promise<void>;
}
