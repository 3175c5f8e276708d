import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createDocumentVerifier, type DocumentVerifier } from '../../../src/adapters/xades/document-verifier.ts';

const onFatal = vi.fn<(error: Error) => void>();
/** Is told of each thread that is started. */
let started: (thread: Worker) => void;
let verifier: DocumentVerifier;
const listen = (message: unknown) => started((message as { worker: Worker }).worker);

beforeEach(() => {
  onFatal.mockReset();
  subscribe('worker_threads', listen);
  verifier = createDocumentVerifier({ onFatal });
});
afterEach(async () => {
  unsubscribe('worker_threads', listen);
  await verifier.close();
});

/** Ends a thread as a defect in it would. */
const die = (thread: Worker) =>
  setImmediate(() => {
    thread.emit('error', new Error('it died'));
    void thread.terminate();
  });

it('a verifier whose thread died takes another one', async () => {
  let threads = 0;
  started = (thread) => {
    if (++threads === 1) die(thread);
  };
  await expect(verifier.verify(new Uint8Array())).rejects.toThrow('the verification thread');
  await expect(verifier.verify(new Uint8Array())).resolves.toMatchObject({ valid: false });
  expect([threads, onFatal.mock.calls]).toEqual([2, []]);
});

it('a verifier whose next thread dies too, before it has answered anything, is fatal', async () => {
  started = die;
  await expect(verifier.verify(new Uint8Array())).rejects.toThrow('the verification thread');
  await expect.poll(() => onFatal.mock.calls).toMatchObject([[{ message: expect.stringContaining('it died') }]]);
});
