import type { Logo } from '../../domain/tenant/logo.ts';
import { NotALogo } from '../../domain/tenant/not-a-logo.ts';
import { createThreads, type OnFatal } from '../threads.ts';
import type { ReadLogo } from './logo-thread.ts';

export interface LogoReader {
  /**
   * Does what `parseLogo` does, on a thread.
   * @throws {NotALogo}
   * @throws {Error} when the thread could not be started, died, or took longer than its time limit
   */
  read(url: string): Promise<Logo>;
  /** Stops the thread. A logo in progress fails. */
  close(): Promise<void>;
}

/**
 * Time limit for one logo, including the start of the thread, milliseconds. Fifty times as long as any logo takes on an
 * idle machine.
 */
const TIME_LIMIT_MS = 20_000;

/** Heap limit of the thread, MiB. Reading any logo needs less than 16, most of it outside the heap. */
const HEAP_LIMITS = { maxOldGenerationSizeMb: 48, maxYoungGenerationSizeMb: 16 };

/** Creates a reader of logos with a worker thread. An idle thread does not keep the process alive, and soon ends. */
export function createLogoReader(onFatal?: OnFatal, script = new URL('./logo-thread.ts', import.meta.url)): LogoReader {
  const threads = createThreads<string, ReadLogo>({ filename: script.href, resourceLimits: HEAP_LIMITS }, onFatal);
  return {
    async read(url) {
      const answer = await threads.run(url, AbortSignal.timeout(TIME_LIMIT_MS));
      if ('fault' in answer) throw new NotALogo(answer.fault);
      return answer;
    },
    close: threads.close,
  };
}
