import { createLogUpdate } from 'log-update';
import type { Terminal } from '../terminal.ts';
import type { Progress } from './progress.ts';
import { logLine, table } from './render.ts';

const REFRESH_MS = 80;

/** Shows the progress of the invoices. */
export interface Display {
  /** Must be called when an invoice has a new status, or with `failed` when following it failed. */
  changed(progress: Progress, status: string): void;
  /** Ends the display and leaves the final state on the screen. */
  close(): void;
}

/** Creates the display: a live table on a terminal, and one line per change for any other output. */
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
