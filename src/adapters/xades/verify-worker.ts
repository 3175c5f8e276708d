import { parentPort } from 'node:worker_threads';
import type { Answer } from './document-verifier.ts';
import { verifySignedDocument } from './verify-document.ts';

/** Worker thread of `createDocumentVerifier`: posts `ready`, then one answer per document. */
parentPort?.on('message', async (bytes: Uint8Array) => answer(await verified(bytes)));
answer('ready');

async function verified(bytes: Uint8Array): Promise<Answer> {
  try {
    return { verification: await verifySignedDocument(bytes) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

function answer(message: Answer): void {
  parentPort?.postMessage(message);
}
