import type { Problem } from '../../../domain/authority/ports.ts';
import { createThreads, type OnFatal } from '../../threads.ts';

/** A task of the thread. */
export interface Examination {
  readonly document: Uint8Array;
  readonly customerIce: string | null;
}

export interface Examined {
  /** Whether the signature was found valid. False if it is not valid, or is in another form than ours. */
  readonly isVerified: boolean;
  /** The first problem of the content; null if there is none. */
  readonly fault: Problem | null;
}

/**
 * Checks the signature and the content of an invoice on a worker thread, because 1,000 lines would block the event loop
 * for too long.
 */
export interface ContentExaminer {
  /** Verifies the document if it has the form of our own documents, and checks its content with `faultOf`. */
  examine(document: Uint8Array, customerIce: string | null): Promise<Examined>;
  /** Stops the thread. Examinations in progress fail. */
  close(): Promise<void>;
}

/**
 * Creates the examiner. Its thread does not keep the process alive while it is idle.
 * @param script the module that the thread runs
 */
export function createContentExaminer(script: URL, onFatal?: OnFatal): ContentExaminer {
  const threads = createThreads<Examination, Examined>({ filename: script.href }, onFatal);
  return {
    examine: (document, customerIce) => threads.run({ document, customerIce }),
    close: threads.close,
  };
}
