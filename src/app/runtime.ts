import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Leave } from '../transport/drain.ts';
import type { HttpServer } from '../transport/http-server.ts';

/** What every capability of the process is composed with. */
export interface Runtime {
  readonly config: Config;
  readonly log: Logger;
  /** Logs the failure of a part that the service cannot work without as fatal, and tells the caller of `startApp`; once. */
  fail(error: Error): void;
  readonly closing: Closing;
}

/** How long the running jobs and webhook attempts may take to end, milliseconds. */
export const DRAIN_MS = 5000;
/** How long any part may take to close, milliseconds; the driver's own limit is longer when its server is gone. */
const CLOSE_MS = DRAIN_MS + 3000;

/** Closes the parts of a runtime. */
export interface Closing {
  /** Registers a part. Parts close one after the other, the newest first. */
  add(close: () => unknown): void;
  /** Registers the HTTP server, which closes before every part: its answers need them. */
  addServer(server: HttpServer): void;
  /** Closes everything that was registered. A part that fails or takes too long is logged. */
  close(leave: Leave): Promise<void>;
}

export function createClosing(log: Logger): Closing {
  const parts: (() => unknown)[] = [];
  let server: HttpServer | null = null;
  return {
    add(close) {
      parts.push(close);
    },
    addServer(added) {
      server = added;
    },
    async close(leave) {
      await server?.close(leave);
      for (const close of parts.splice(0).reverse()) {
        await Promise.race([(async () => close())(), tooLate(CLOSE_MS)]).catch((err: unknown) =>
          log.warn({ err }, 'a part of the service did not close'),
        );
      }
    },
  };
}

async function tooLate(ms: number): Promise<never> {
  await sleep(ms, undefined, { ref: false });
  throw new Error(`it took more than ${ms} ms`);
}
