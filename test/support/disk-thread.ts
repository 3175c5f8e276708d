import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

/**
 * The main module of a thread that writes a page to the file `workerData.path` 20 times a second and waits for the
 * disk. It answers any message with the longest time that a write took, in milliseconds, and ends.
 */
const page = Buffer.alloc(4096, 1);
const file = openSync(workerData.path, 'w');
let longest = 0;
let isOver = false;
parentPort?.once('message', () => {
  isOver = true;
});
while (!isOver) {
  const start = performance.now();
  writeSync(file, page, 0, page.length, 0);
  fsyncSync(file);
  longest = Math.max(longest, performance.now() - start);
  await sleep(50);
}
closeSync(file);
parentPort?.postMessage(longest);
