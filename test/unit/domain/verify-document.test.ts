import { expect, test } from 'vitest';
import { createFairQueue, QueueFull } from '../../../src/domain/kit/fair-queue.ts';
import type { Principal } from '../../../src/domain/principal.ts';
import { callable } from '../../../src/domain/use-cases.ts';
import type { Verification } from '../../../src/domain/verification/verification.ts';
import { VerificationGivenUp } from '../../../src/domain/verification/verification.ts';
import { VERIFICATIONS, verifyDocument } from '../../../src/domain/verification/verify-document.ts';
import { LIMITS } from '../../../src/graphql/limits.ts';

const INVALID: Verification = { valid: false, failed: 'structure', reason: 'x' };
const keyOf = (id: string, kind = 'secret') =>
  ({ kind, keyId: 'key', tenant: { id }, environment: 'test' }) as Principal;

/** The use case with this verifier. */
function verifierOf(verify: (document: Uint8Array) => Promise<Verification>) {
  const needs = { clientsVerifier: { verify }, verifications: createFairQueue(VERIFICATIONS) };
  return callable({ verifyDocument }, needs, async () => undefined).verifyDocument;
}

/** A verifier that records its documents and finishes on request. */
function heldVerifier() {
  const begun: string[] = [];
  let end: (() => void) | null = null;
  return {
    begun,
    end: async () => {
      end?.();
      await new Promise(setImmediate);
    },
    verify: verifierOf((document) => {
      begun.push(Buffer.from(document).toString());
      return new Promise<Verification>((resolve) => {
        end = () => resolve(INVALID);
      });
    }),
  };
}

test("tenants take turns: a document waits for one of another tenant's documents, not for all", async () => {
  const { begun, end, verify } = heldVerifier();
  const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((text) => verify(keyOf(text.charAt(0)), text));
  while (begun.length < 6) await end();
  await end();
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
  expect(await Promise.all(all)).toEqual(Array(6).fill(INVALID));
});

test('a tenant that sends too many documents at once is refused; other tenants are not', async () => {
  const { begun, end, verify } = heldVerifier();
  const many = Array.from({ length: 14 }, (_, n) => verify(keyOf('a'), `a${n}`));
  const other = verify(keyOf('b'), 'b');
  const settling = Promise.allSettled(many);
  for (let ends = 0; ends < 13; ends++) await end();
  await end();
  const settled = await settling;
  // One under way, ten waiting.
  expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(11);
  expect(settled.at(-1)).toMatchObject({ reason: { code: 'rate_limit_exceeded', status: 429 } });
  expect(await other).toEqual(INVALID);
  expect(begun.indexOf('b')).toBe(2);
});

test("all documents of one operation are checked, even while another tenant's is under way", async () => {
  const { begun, end, verify } = heldVerifier();
  const other = verify(keyOf('b'), 'b');
  const all = Promise.all(Array.from({ length: LIMITS.rootFields }, (_, n) => verify(keyOf('a'), `a${n}`)));
  for (let ends = 0; ends < 11; ends++) await end();
  expect(begun).toHaveLength(11);
  expect(await Promise.all([other, all])).toEqual([INVALID, Array(10).fill(INVALID)]);
});

test('a check that gives up is reported as `limits`; an error is thrown; in both cases the next document is checked', async () => {
  const verify = verifierOf(async (document) => {
    const text = Buffer.from(document).toString();
    if (text === 'long') throw new VerificationGivenUp('It was not checked within 1 s.');
    if (text === 'defect') throw new Error('defect');
    return INVALID;
  });
  const [long, defect, next] = await Promise.allSettled(
    ['long', 'defect', 'x'].map((text) => verify(keyOf('a'), text)),
  );
  expect(long).toMatchObject({ value: { valid: false, failed: 'limits', reason: 'It was not checked within 1 s.' } });
  expect(defect).toMatchObject({ reason: { message: 'defect' } });
  expect(next).toMatchObject({ value: INVALID });
  const refused = expect.objectContaining({ code: 'insufficient_scope' });
  expect(() => verify(keyOf('a', 'publishable'), 'x')).toThrow(refused);
});

test('a queue at its total limit accepts a new task and refuses the latest of the longest backlog', async () => {
  const queue = createFairQueue({ perKey: 5, total: 5 });
  const { promise: held, resolve } = Promise.withResolvers<string>();
  const done: string[] = [];
  const run = (key: string, name: string) =>
    queue.run(key, () => held.then(() => done.push(name))).catch((error: unknown) => error);
  const first = run('a', 'a0');
  const waiting = [run('a', 'a1'), run('a', 'a2'), run('a', 'a3'), run('a', 'a4'), run('b', 'b1'), run('c', 'c1')];
  resolve('go');
  await first;
  const settled = await Promise.all(waiting);
  expect(settled.map((each) => each instanceof QueueFull)).toEqual([false, false, false, true, false, false]);
  expect(done).toEqual(['a0', 'a1', 'b1', 'c1', 'a2', 'a3']);
});
