import { createLogUpdate } from 'log-update';
import type { Terminal } from '../terminal.ts';
import type { Progress } from './progress.ts';
import { logLine, table } from './render.ts';

const REFRESH_MS = 80;

/** Shows how the invoices come along. */
export interface Display {
  /** A status was noted, or following failed (`failed`). */
  changed(progress: Progress, status: string): void;
  /** Leaves the last state standing. */
  close(): void;
}

/** A live table on a terminal, a line per change anywhere else. */
export function createDisplay(all: readonly Progress[], { stream, style, print }: Terminal): Display {
  const start = performance.now();
  if (!stream.isTTY) {
    return {
      changed: (progress, status) => print(logLine(progress, status, performance.now() - start)),
      close: () => undefined,
    };
  }
  const update = createLogUpdate(stream);
  const draw = () => update(table(all, performance.now(), stream.columns, style));
  draw();
  const timer = setInterval(draw, REFRESH_MS);
  return {
    changed: draw,
    close() {
      clearInterval(timer);
      draw();
      update.done();
    },
  };
}
