import { subscribe } from 'node:diagnostics_channel';
import { isMainThread, type Worker } from 'node:worker_threads';

// For `node --import`. SIGUSR2 ends the first thread that the process started, like a defect would. The first thread of
// the service is its engine.

if (isMainThread) {
  let first: Worker | null = null;
  subscribe('worker_threads', (message) => {
    first ??= (message as { worker: Worker }).worker;
  });
  process.on('SIGUSR2', () => void first?.terminate());
}
