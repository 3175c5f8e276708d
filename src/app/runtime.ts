import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { ShutdownOptions } from '../transport/drain.ts';
import type { HttpServer } from '../transport/http-server.ts';

/** What every part of the composition uses. */
export interface Runtime {
  readonly config: Config;
  readonly log: Logger;
  /** Logs the failure of an indispensable part as fatal and calls `onFatal`. Only the first call has an effect. */
  fail(error: Error): void;
  readonly closing: Closing;
}

/** How long a shutdown waits for running jobs and webhook attempts, milliseconds. */
export const DRAIN_MS = 5000;
/** How long a shutdown waits for each part to close, milliseconds. The driver would wait longer for a lost server. */
const CLOSE_MS = DRAIN_MS + 3000;

/** Closes the parts of a runtime. */
export interface Closing {
  /** Registers a part. Parts close one at a time, in reverse order. */
  add(close: () => unknown): void;
  /** Registers the HTTP server, which closes before all parts, because its answers need them. */
  addServer(server: HttpServer): void;
  /** Closes everything that was registered. Logs a part that fails or takes too long. */
  close(options: ShutdownOptions): Promise<void>;
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
    async close(options) {
      await server?.close(options);
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
