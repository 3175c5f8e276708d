import { parentPort, workerData } from 'node:worker_threads';
import { inspectFile } from '../store/inspect.ts';

/** Worker side of `inspectCopy`: posts the content of the file, or the reason why it is refused. */
try {
  parentPort?.postMessage({ content: inspectFile(workerData as string) });
} catch (error) {
  parentPort?.postMessage({ refused: (error as Error).message });
}
