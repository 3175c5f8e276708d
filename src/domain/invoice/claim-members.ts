import type { Heartbeat } from '../live-workers.ts';

/** The store of the workers that divide the partitions of the invoices among themselves. Each method is atomic. */
export interface ClaimMembers {
  /** Stores a heartbeat. @returns those of all workers, this one included */
  heartbeat(heartbeat: Heartbeat): Promise<readonly Heartbeat[]>;
  /** The heartbeats of all workers. */
  list(): Promise<readonly Heartbeat[]>;
  /** Removes a worker, unless it has a heartbeat other than `at` meanwhile. @param at null: in any case */
  forget(workerId: string, at: Date | null): Promise<void>;
}
