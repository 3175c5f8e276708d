import { createLogUpdate } from 'log-update';
import type { MoveReports } from '../app/migration.ts';
import type { Terminal } from './terminal.ts';

/** Pause between two updates on a terminal, and between two lines elsewhere, milliseconds. */
const EVERY_MS = { terminal: 200, lines: 2000 } as const;
const MEGABYTE = 1e6;

/**
 * Shows the progress of a move: a line that is redrawn on a terminal, otherwise lines for each collection, at
 * intervals. Writes to standard error, because standard output is for the result.
 */
export function createMoveDisplay({ stream, remark }: Pick<Terminal, 'stream' | 'remark'>) {
  const update = stream.isTTY ? createLogUpdate(process.stderr) : null;
  let phase = { name: '', documents: 0, startedAt: 0 };
  let passed = { documents: 0, bytes: 0 };
  let current = '';
  let shownAt = 0;

  function show(always = false): void {
    const now = performance.now();
    if (!always && now - shownAt < (update ? EVERY_MS.terminal : EVERY_MS.lines)) return;
    shownAt = now;
    const text = line(phase, passed, current, (now - phase.startedAt) / 1000);
    if (update) update(text);
    else remark(text);
  }

  const reports: MoveReports = {
    waits: (ms) => remark(`waits ${Math.ceil(ms / 1000)} s until every process has noticed`),
    begins(name, collections, documents) {
      update?.done();
      phase = { name, documents, startedAt: performance.now() };
      passed = { documents: 0, bytes: 0 };
      current = '';
      remark(`${name} ${collections} collections, about ${Math.max(0, documents)} documents`);
    },
    passes(collection, { documents, bytes }) {
      passed = { documents: passed.documents + documents, bytes: passed.bytes + bytes };
      const isNew = collection !== current;
      current = collection;
      show(isNew);
    },
  };
  return { reports, close: () => update?.done() };
}

function line(
  { name, documents }: { readonly name: string; readonly documents: number },
  passed: { readonly documents: number; readonly bytes: number },
  collection: string,
  seconds: number,
): string {
  const percent = documents > 0 ? `${Math.min(100, Math.floor((100 * passed.documents) / documents))} %` : '';
  const megabytes = (passed.bytes / MEGABYTE).toFixed(1);
  const left = passed.documents > 0 ? (seconds * (documents - passed.documents)) / passed.documents : 0;
  const rest = left >= 1 ? `, about ${Math.ceil(left)} s left` : '';
  return `${name} ${collection}: ${passed.documents} documents, ${megabytes} MB ${percent}${rest}`;
}
