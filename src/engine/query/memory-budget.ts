import { calculateObjectSize } from 'bson';
import { CommandError } from '../errors.ts';
import type { Doc } from './types.ts';

/** Limit on the bytes that one stage may keep in memory, as in MongoDB. Nothing is spilled to disk. */
const STAGE_BYTES = 100 * 1024 * 1024;

/** Counts the BSON bytes of the documents that a stage keeps in memory. */
export class MemoryBudget {
  private bytes = 0;
  private readonly stage: string;
  private readonly limit: number;

  constructor(stage: string, limit = STAGE_BYTES) {
    this.stage = stage;
    this.limit = limit;
  }

  /** @throws CommandError QueryExceededMemoryLimitNoDiskUseAllowed (292) beyond the limit. */
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
