import { afterEach, describe, expect, it } from 'vitest';
import type { FaultRule } from '../../../scripts/authority-simulator/faults.ts';
import type { SimulatorOptions } from '../../../scripts/authority-simulator/options.ts';
import { signedSubmission } from '../../support/authority-contract.ts';
import { openSimulated } from '../../support/http-authority.ts';

// The composed adapter against the simulator's faults: what each says, and that it agrees with the ledger.

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

async function open(options: SimulatorOptions = {}) {
  const live = await openSimulated({ decisionDelay: 0, verify: 'none', ...options });
  opened.push(live);
  return live;
}

it.each<[name: string, fault: FaultRule, answer: object, held: boolean]>([
  ['503', { kind: 'unavailable' }, { kind: 'not_held', reason: 'unavailable', retryAfterMs: 1000 }, false],
  ['429', { kind: 'rate-limited' }, { kind: 'not_held', reason: 'rate_limited', retryAfterMs: 1000 }, false],
  ['a bare 500', { kind: 'bare-error' }, { kind: 'unknown' }, false],
  ['reset after the body', { kind: 'reset-after-body' }, { kind: 'unknown' }, false],
  ['a lost reply', { kind: 'lost-reply' }, { kind: 'unknown' }, true],
  ['HTML with 200', { kind: 'proxy-page', status: 200 }, { kind: 'unknown' }, false],
  ['HTML with 502', { kind: 'proxy-page', status: 502 }, { kind: 'unknown' }, false],
  ['truncated JSON', { kind: 'truncated-json' }, { kind: 'unknown' }, true],
  ['no Authority-Protocol', { kind: 'no-protocol' }, { kind: 'unknown' }, true],
  ['another id', { kind: 'wrong-id' }, { kind: 'unknown' }, true],
  ['another digest', { kind: 'wrong-digest' }, { kind: 'unknown' }, true],
  ['a duplicate of itself', { kind: 'duplicate-own' }, { kind: 'held' }, true],
  ['a false duplicate', { kind: 'duplicate-false' }, { kind: 'duplicate' }, false],
  ['403', { kind: 'error', status: 403, code: 'forbidden' }, { kind: 'not_held', reason: 'forbidden' }, false],
  ['400', { kind: 'error', status: 400, code: 'bad_request' }, { kind: 'refused', code: 'bad_request' }, false],
])('%s', async (_name, fault, answer, held) => {
  const { authority, simulator } = await open();
  expect(await authority.probe()).toBeNull();
  simulator.control.addFault({ ...fault, calls: ['submit'], times: 1 });
  const submission = await signedSubmission();
  expect(await authority.submit(submission)).toMatchObject(answer);
  expect(simulator.control.find(submission.submissionId) !== null).toBe(held);
  expect(await authority.lookUp(submission)).toMatchObject({ kind: held ? 'held' : 'absent' });
});

it('a true duplicate is ours under its own id, and is followed there', async () => {
  const { authority, simulator } = await open();
  simulator.control.addFault({ kind: 'duplicate-true', calls: ['submit'], times: 1 });
  const submission = await signedSubmission();
  const answer = await authority.submit(submission);
  const heldAs = answer.kind === 'held' ? answer.submission.submissionId : '';
  expect([heldAs !== '', heldAs !== submission.submissionId]).toEqual([true, true]);
  expect(await authority.lookUp({ ...submission, submissionId: heldAs })).toMatchObject({ kind: 'held' });
});

describe('what changes at the authority is taken without a restart', () => {
  it.each(['client', 'client-key', 'server', 'receipts'] as const)('the rotated %s', async (what) => {
    const { authority, simulator } = await open();
    expect(await authority.submit(await signedSubmission())).toMatchObject({ kind: 'held' });
    await simulator.control.rotate(what);
    await expect
      .poll(async () => (await authority.submit(await signedSubmission())).kind, { timeout: 50_000, interval: 200 })
      .toBe('held');
  });

  it('revoked tokens, at the cost of one more request', async () => {
    const { authority, simulator } = await open();
    await authority.submit(await signedSubmission());
    simulator.control.revokeTokens();
    expect(await authority.submit(await signedSubmission())).toMatchObject({ kind: 'held' });
    expect(authority.state().token).toMatchObject({ renewals: 2, failures: 0 });
  });

  it.each([600_000, -600_000])('a clock that is set %i ms off', async (offset) => {
    const { authority, simulator } = await open();
    await authority.submit(await signedSubmission());
    simulator.control.setClock(offset);
    expect(await authority.submit(await signedSubmission())).toMatchObject({ kind: 'held' });
    expect(await authority.submit(await signedSubmission())).toMatchObject({ kind: 'held' });
  });
});

it('reads the ledger from the beginning to its end, page by page', async () => {
  const { authority } = await open();
  const sent = [];
  for (let each = 0; each < 5; each++) {
    const submission = await signedSubmission();
    sent.push({ submissionId: submission.submissionId, sha256: submission.sha256 });
    await authority.submit(submission);
  }
  const entries = [];
  for (let after: string | null = null; ; ) {
    const page = await authority.changes(after, 2);
    if (page.kind !== 'changes') throw new Error(page.message);
    entries.push(...page.entries.map(({ submissionId, sha256 }) => ({ submissionId, sha256 })));
    after = page.nextCursor;
    if (after === page.highWaterMark) break;
  }
  expect(entries).toEqual(sent);
});

it('the limits of the authority are never exceeded, however much is asked', async () => {
  const limits = {
    submissions_per_minute: 5,
    lookups_per_minute: 12,
    lookups_per_submission_per_hour: 3,
    concurrent: 2,
  };
  const { authority, simulator } = await open({ limits });
  const submissions = await Promise.all(Array.from({ length: 20 }, () => signedSubmission()));
  for (let round = 0; round < 5; round++) {
    const answers = await Promise.all(submissions.map((each) => authority.submit(each)));
    const others = answers.filter((each) => each.kind !== 'held');
    expect(others.map((each) => each.kind === 'not_held' && each.reason)).toEqual(others.map(() => 'deferred'));
  }
  for (let round = 0; round < 10; round++) {
    for (const submission of submissions) {
      const answer = await authority.lookUp(submission);
      if (answer.kind === 'unknown')
        expect(answer).toMatchObject({ requestId: null, retryAfterMs: expect.any(Number) });
    }
  }
  const { calls, puts, lookups } = simulator.control.counters();
  expect(calls).toMatchObject({ submit: 5, lookup: 12 });
  expect(puts.peak).toBeLessThanOrEqual(2);
  expect(lookups.per_hour.peak).toBeLessThanOrEqual(3);
});

it.each(['signature', 'digest', 'id', 'status', 'signer'] as const)(
  'a receipt with a wrong %s is not taken as it is',
  async (what) => {
    const { authority, simulator } = await open();
    const submission = await signedSubmission();
    const answer = await authority.submit(submission);
    const decision = answer.kind === 'held' ? answer.submission.decision : null;
    const dgiId = decision?.outcome === 'accepted' ? decision.dgiId : '';
    simulator.control.addFault({ kind: 'wrong-receipt', what });
    const receipt = await authority.receipt({ dgiId, submissionId: submission.submissionId });
    // What it says of the submission is compared by the stage, which knows it.
    if (receipt.kind === 'receipt') {
      const { submissionId, sha256, status } = receipt.receipt;
      expect([submissionId, sha256, status]).not.toEqual([submission.submissionId, submission.sha256, 'accepted']);
    } else expect(receipt.kind).toBe('invalid');
  },
);
