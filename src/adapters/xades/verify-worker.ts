import { parentPort } from 'node:worker_threads';
import { verifySignedDocument } from './verify-document.ts';

/** The thread of `createDocumentVerifier`: one answer for each message, in order of their numbers or not. */
parentPort?.on('message', async ({ id, bytes }: { id: number; bytes: Uint8Array }) => {
  try {
    parentPort?.postMessage({ id, verification: await verifySignedDocument(bytes) });
  } catch (error) {
    parentPort?.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
});
