import { createThreads, type OnFatal } from '../../threads.ts';
import type { Examination, Examined } from './examination-thread.ts';

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

/** The thread starts with the first document and stays up. While idle it does not keep the process alive. */
export function createContentExaminer(onFatal?: OnFatal): ContentExaminer {
  const threads = createThreads<Examination, Examined>(
    { filename: new URL('./examination-thread.ts', import.meta.url).href, lazy: true },
    onFatal,
  );
  return {
    examine: (document, customerIce) => threads.run({ document, customerIce }),
    close: threads.close,
  };
}
