import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { ShutdownOptions } from '../transport/drain.ts';
import type { HttpServer } from '../transport/http-server.ts';

/** The settings and functions that every part of the process uses. */
export interface Runtime {
  readonly config: Config;
  readonly log: Logger;
  /** Logs the failure of an indispensable part as fatal and calls `onFatal`. Only the first call has an effect. */
  fail(error: Error): void;
  readonly closing: Closing;
}

/** How long a shutdown waits for all work under way together, milliseconds. */
const DRAIN_MS = 5000;
/**
 * How long a shutdown waits for each part to close, milliseconds. The driver alone would wait longer for an unavailable
 * server.
 */
const CLOSE_MS = DRAIN_MS + 3000;

/** Closes the parts of a runtime. */
export interface Closing {
  /** Whether `close` was called. The HTTP server still answers requests for a while. */
  readonly hasBegun: boolean;
  /** Registers a part. Parts close one at a time, in reverse order. */
  add(close: () => unknown): void;
  /**
   * Registers background work. All background work stops at the same time, before the parts that it needs.
   * @param stop starts nothing more, and waits up to `timeoutMs` for the work in progress
   */
  addWork(stop: (timeoutMs: number) => unknown): void;
  /** Registers the HTTP server. It closes before all work and parts, because its responses need them. */
  addServer(server: HttpServer): void;
  /** Closes everything that was registered. Logs a part that fails or takes too long. */
  close(options: ShutdownOptions): Promise<void>;
}

export function createClosing(log: Logger): Closing {
  const parts: (() => unknown)[] = [];
  const work: ((timeoutMs: number) => unknown)[] = [];
  const closed = (close: () => unknown) =>
    Promise.race([(async () => close())(), tooLate(CLOSE_MS)]).catch((err: unknown) =>
      log.warn({ err }, 'a part of the service did not close'),
    );
  let server: HttpServer | null = null;
  let hasBegun = false;
  return {
    get hasBegun() {
      return hasBegun;
    },
    add(close) {
      parts.push(close);
    },
    addWork(stop) {
      work.push(stop);
    },
    addServer(added) {
      server = added;
    },
    async close(options) {
      hasBegun = true;
      await server?.close(options);
      // At the same time: otherwise each part would wait its own time, and parts that still run would start more work.
      await Promise.all(work.splice(0).map((stop) => closed(() => stop(DRAIN_MS))));
      for (const close of parts.splice(0).reverse()) await closed(close);
    },
  };
}

async function tooLate(ms: number): Promise<never> {
  await sleep(ms, undefined, { ref: false });
  throw new Error(`it took more than ${ms} ms`);
}
