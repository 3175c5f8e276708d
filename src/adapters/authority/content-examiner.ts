import { createThreads, type OnFatal } from '../threads.ts';
import type { Examination } from './examination-thread.ts';

/** Examines what an invoice states, on a thread of its own: 1,000 lines take longer than the event loop may be held. */
export interface ContentExaminer {
  /** As `faultOf`. */
  examine(document: Uint8Array, customerIce: string): Promise<string | null>;
  /** Ends the thread; what is under way fails. */
  close(): Promise<void>;
}

/** The thread is started by the first document and kept warm; it does not keep the process alive when nothing is under way. */
export function createContentExaminer(onFatal?: OnFatal): ContentExaminer {
  const threads = createThreads<Examination, string | null>(
    { filename: new URL('./examination-thread.ts', import.meta.url).href, lazy: true },
    onFatal,
  );
  return {
    examine: (document, customerIce) => threads.run({ document, customerIce }),
    close: threads.close,
  };
}
