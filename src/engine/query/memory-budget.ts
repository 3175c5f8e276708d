import { calculateObjectSize } from 'bson';
import { CommandError } from '../errors.ts';
import type { Doc } from './types.ts';

/** What one stage may hold in memory, as in MongoDB; there is no spilling to disk. */
const STAGE_BYTES = 100 * 1024 * 1024;

/** Counts the bytes (as BSON) of what a stage holds. */
export class MemoryBudget {
  private bytes = 0;
  private readonly stage: string;
  private readonly limit: number;

  constructor(stage: string, limit = STAGE_BYTES) {
    this.stage = stage;
    this.limit = limit;
  }

  /** @throws CommandError QueryExceededMemoryLimitNoDiskUseAllowed (292) past the limit. */
  take(doc: Doc): void {
    this.bytes += calculateObjectSize(doc);
    if (this.bytes > this.limit) {
      throw new CommandError(
        'QueryExceededMemoryLimitNoDiskUseAllowed',
        `Exceeded memory limit for ${this.stage}, but didn't allow external sort: ${this.limit} bytes`,
      );
    }
  }

  release(doc: Doc): void {
    this.bytes -= calculateObjectSize(doc);
  }
}
