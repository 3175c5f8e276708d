import type { Problem } from '../../../domain/authority/ports.ts';
import { createThreads, type OnFatal } from '../../threads.ts';

/** A task of the thread. */
export interface Examination {
  readonly document: Uint8Array;
  readonly customerIce: string;
}

export interface Examined {
  /** Whether its signature was found valid. Otherwise it is in another form than ours, or not valid. */
  readonly isVerified: boolean;
  /** The first problem of its content; null if there is none. */
  readonly fault: Problem | null;
}

/**
 * Checks the signature and the content of an invoice on a worker thread, because 1,000 lines would block the event loop
 * for too long.
 */
export interface ContentExaminer {
  /** Verifies the document if it is in the form of our own, and finds what `faultOf` finds. */
  examine(document: Uint8Array, customerIce: string): Promise<Examined>;
  /** Stops the thread. Examinations in progress fail. */
  close(): Promise<void>;
}

/**
 * While idle the thread does not keep the process alive.
 * @param script module of the thread
 */
export function createContentExaminer(script: URL, onFatal?: OnFatal): ContentExaminer {
  const threads = createThreads<Examination, Examined>({ filename: script.href }, onFatal);
  return {
    examine: (document, customerIce) => threads.run({ document, customerIce }),
    close: threads.close,
  };
}
