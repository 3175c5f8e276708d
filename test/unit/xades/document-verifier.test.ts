import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  createDocumentVerifier,
  type DocumentVerifier,
  type DocumentVerifierOptions,
} from '../../../src/adapters/xades/document-verifier.ts';
import { verifySignedDocument } from '../../../src/adapters/xades/verify-document.ts';
import { VerificationGivenUp } from '../../../src/domain/verification/verification.ts';
import { sampleInvoice } from '../ubl/sample-invoice.ts';
import { ecKey, identityOf, signedInvoice } from './identities.ts';

let verifier: DocumentVerifier | null = null;
afterEach(() => verifier?.close());

function open(options?: DocumentVerifierOptions): DocumentVerifier {
  verifier = createDocumentVerifier(options);
  return verifier;
}

let folder: string;
let SCRIPT: URL;
let BROKEN: URL;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'verifier-'));
  SCRIPT = await moduleOf('script.mjs', PROGRAM);
  BROKEN = await moduleOf('broken.mjs', "throw new Error('no module');");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function moduleOf(name: string, text: string): Promise<URL> {
  await writeFile(join(folder, name), text);
  return pathToFileURL(join(folder, name));
}

/** A thread whose behaviour is chosen by the document's first byte; it answers with the rest as the reason. */
const PROGRAM = `
import { resourceLimits } from 'node:worker_threads';
export default async function run(task) {
  if (task === null) return null;
  let [what, ...rest] = Buffer.from(task.document).toString();
  if (what === 'l') rest = [resourceLimits.maxOldGenerationSizeMb, ' ', resourceLimits.maxYoungGenerationSizeMb];
  if (what === 'h') for (;;);
  if (what === 'w') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  if (what === 'm') for (const kept = [];;) kept.push(new Array(100_000).fill({}).map(() => ({})));
  if (what === 't') setTimeout(() => { throw new Error('broken'); });
  if (what === 't') await new Promise(() => {});
  return { valid: false, failed: 'structure', reason: rest.join('') };
}`;
const say = (text: string) => Buffer.from(text);

test('gives concurrent documents the same results as the check itself, and stops cleanly', async () => {
  const signed = await signedInvoice(identityOf(ecKey('P-256')), sampleInvoice());
  const changed = Buffer.from(signed.toString().replace('>123.45<', '>923.45<'));
  const { verify, close } = open();
  const answers = await Promise.all([signed, changed, signed].map((bytes) => verify(bytes)));
  expect(answers.map(({ valid }) => valid)).toEqual([true, false, true]);
  expect(answers[0]).toEqual(await verifySignedDocument(signed));
  await close();
  await close();
  await expect(verify(signed)).rejects.toThrow(/closed/);
});

describe('a document that kills the thread', () => {
  test.each([
    ['takes too long', 'h', /could not be verified within 2 s/],
    ['takes too much memory', 'm', /could not be verified with 32 MiB/],
  ])('is given up, and no other: it %s', async (_how, document, message) => {
    const { verify } = open({ script: SCRIPT, heapLimit: 32, timeLimit: document === 'h' ? 2000 : 60_000 });
    const [first, bad, behind] = await Promise.allSettled([
      verify(say('.1')),
      verify(say(document)),
      verify(say('.2')),
    ]);
    expect(first).toMatchObject({ status: 'fulfilled', value: { reason: '1' } });
    expect(bad).toMatchObject({ status: 'rejected', reason: { message: expect.stringMatching(message) } });
    expect((bad as PromiseRejectedResult).reason).toBeInstanceOf(VerificationGivenUp);
    expect(behind).toMatchObject({ status: 'fulfilled', value: { reason: '2' } });
  });

  test('by an error fails, and no other', async () => {
    const { verify } = open({ script: SCRIPT });
    const [bad, behind] = await Promise.allSettled([verify(say('t')), verify(say('.2'))]);
    expect(bad).toMatchObject({ status: 'rejected', reason: { message: 'the verification thread failed' } });
    expect(behind).toMatchObject({ status: 'fulfilled', value: { reason: '2' } });
  });
});

test('both generations of its memory are limited', async () => {
  expect(await open({ script: SCRIPT, heapLimit: 64 }).verify(say('l'))).toMatchObject({ reason: '64 16' });
});

test('the time limit counts from the start of the work, not from the call', async () => {
  const { verify } = open({ script: SCRIPT, timeLimit: 2000 });
  // Each of the first two occupies the thread for its whole time limit, so the third waits twice as long as its limit.
  const settled = await Promise.allSettled([verify(say('w')), verify(say('w')), verify(say('.3'))]);
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
});

test('several failed starts in a row are reported, and the next call tries again', async () => {
  const failures: Error[] = [];
  const { verify } = open({ script: BROKEN, onFatal: (error) => failures.push(error) });
  const settled = await Promise.allSettled([verify(say('.1')), verify(say('.2'))]);
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(failures).toMatchObject([
    { message: expect.stringContaining('3 times in a row'), cause: { message: 'no module' } },
  ]);
  await expect(verify(say('.3'))).rejects.toThrow(/failed to start/);
  expect(failures).toHaveLength(2);
});

test('a thread that dies on one document is not reported', async () => {
  const failures: Error[] = [];
  const { verify } = open({ script: SCRIPT, onFatal: (error) => failures.push(error) });
  const settled = await Promise.allSettled(['t', 't', 't', 't', '.'].map((text) => verify(say(text))));
  expect(settled.map(({ status }) => status)).toEqual([...Array(4).fill('rejected'), 'fulfilled']);
  expect(failures).toEqual([]);
});
