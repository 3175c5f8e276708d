import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { softwareKey } from '../../src/adapters/signing-key/software-key.ts';
import { makeTestIdentity } from '../../src/adapters/signing-key/test-certificate.ts';
import { unsignedDocument, writeInvoice } from '../../src/adapters/ubl/write-invoice.ts';
import { createDocumentSigner } from '../../src/adapters/xades/document-signer.ts';
import type { Authority, Decision, HeldSubmission, Submission } from '../../src/domain/authority/ports.ts';
import { COMPANY } from '../../src/domain/invoice/customer-kind.ts';
import { MAGIC_ICES, type Scenario } from '../../src/domain/invoice/test-scenarios.ts';
import { sampleInvoice } from '../unit/ubl/sample-invoice.ts';

/** An implementation of the authority to test against the contract. */
export interface ContractSubject {
  readonly authority: Authority;
  close(): Promise<void>;
}

const ORDINARY = '001234567000062';
let numbers = 0;

/** Declares the tests that every implementation of the port `Authority` must pass, however it decides. */
export function describeAuthority(name: string, start: () => Promise<ContractSubject>): void {
  describe(name, () => {
    let subject: ContractSubject;
    let authority: Authority;
    beforeAll(async () => {
      subject = await start();
      authority = subject.authority;
    });
    afterAll(() => subject?.close());

    /** Asks repeatedly until the submission is decided. */
    async function decided(submission: Submission): Promise<HeldSubmission & { readonly decision: Decision }> {
      for (;;) {
        const answer = await authority.lookUp(submission);
        if (answer.kind === 'held' && answer.submission.decision !== null) {
          return { ...answer.submission, decision: answer.submission.decision };
        }
        expect(answer.kind).toMatch(/^(held|unknown)$/);
        await sleep(20);
      }
    }

    it('answers a probe', async () => {
      expect(await authority.probe()).toBeNull();
      const { lookUp, maxDocumentBytes, limits } = authority.capabilities();
      expect(lookUp.length).toBeGreaterThan(0);
      expect(Math.min(maxDocumentBytes, ...Object.values(limits))).toBeGreaterThan(0);
    });

    it('accepts a submission; again it is the same one', async () => {
      const submission = await signedSubmission();
      const first = await authority.submit(submission);
      expect(first).toMatchObject({
        kind: 'held',
        submission: { submissionId: submission.submissionId, warnings: [] },
      });
      const { decision } = await decided(submission);
      expect(decision).toMatchObject({ outcome: 'accepted', dgiId: expect.stringMatching(/^DGI-/) });
      const again = await authority.submit(submission);
      expect(again).toMatchObject({ kind: 'held', submission: { submissionId: submission.submissionId, decision } });
    });

    it('holds one document under an id', async () => {
      const [submission, other] = [await signedSubmission(), await signedSubmission()];
      expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
      expect(await authority.submit({ ...other, submissionId: submission.submissionId })).toMatchObject({
        kind: 'digest_mismatch',
        heldDigest: submission.sha256,
      });
      expect(await authority.lookUp(submission)).toMatchObject({ kind: 'held' });
    });

    it('knows nothing of what it was never sent', async () => {
      expect(await authority.lookUp(await signedSubmission())).toMatchObject({ kind: 'absent' });
      expect(await authority.receipt({ dgiId: 'DGI-UNKNOWN', submissionId: `inv_${randomUUID()}` })).toMatchObject({
        kind: 'absent',
      });
      expect(await authority.cleared(`inv_${randomUUID()}`)).toMatchObject({ kind: 'absent' });
    });

    it('a look-up that finds another document under the id proves nothing', async () => {
      const [submission, other] = [await signedSubmission(), await signedSubmission()];
      await authority.submit(submission);
      const question = { submissionId: submission.submissionId, sha256: other.sha256 };
      expect(await authority.lookUp(question)).toMatchObject({ kind: 'unknown' });
    });

    it.each<[Scenario, string]>([
      ['unknown-ice', 'ice_unknown'],
      ['duplicate', 'duplicate_invoice'],
    ])('rejects by the rule %s, with a coded problem in French', async (scenario, code) => {
      const submission = await signedSubmission(iceOf(scenario));
      expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
      expect((await decided(submission)).decision).toMatchObject({
        outcome: 'rejected',
        problems: [{ code, message: expect.stringMatching(/administration|client/) }],
      });
    });

    it('that is unavailable twice takes the third submission', async () => {
      const submission = await signedSubmission(iceOf('unavailable-twice'));
      for (const _attempt of [1, 2]) {
        expect(await authority.submit(submission)).toMatchObject({ kind: 'not_held', reason: 'unavailable' });
        expect(await authority.lookUp(submission)).toMatchObject({ kind: 'absent' });
      }
      expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
    });

    it('a lost reply is unknown, and a look-up tells what happened', async () => {
      const submission = await signedSubmission(iceOf('lost-reply'));
      expect(await authority.submit(submission)).toMatchObject({ kind: 'unknown' });
      expect((await decided(submission)).decision).toMatchObject({ outcome: 'accepted' });
    });

    it('a slow decision: held without one, with the time to ask again', async () => {
      const submission = await signedSubmission(iceOf('slow-decision'));
      const answer = await authority.submit(submission);
      expect(answer).toMatchObject({ kind: 'held', submission: { decision: null } });
      if (authority.capabilities().decision === 'callback') return;
      expect(answer.kind === 'held' && answer.submission.askAgainAfter).toBeGreaterThan(0);
    });

    it('states an acceptance in a receipt, and in a cleared document where it makes one', async () => {
      const submission = await signedSubmission();
      await authority.submit(submission);
      const { submissionId, decision } = await decided(submission);
      const dgiId = decision.outcome === 'accepted' ? decision.dgiId : '';
      expect(await authority.receipt({ dgiId, submissionId })).toMatchObject({
        kind: 'receipt',
        receipt: { submissionId, dgiId, sha256: submission.sha256, status: 'accepted' },
      });
      const cleared = await authority.cleared(submissionId);
      expect(cleared.kind).toBe(authority.capabilities().clearedDocument ? 'document' : 'absent');
    });

    it('a damaged document is rejected, not refused', async () => {
      const { document, ...rest } = await signedSubmission();
      const damaged = Buffer.from(Buffer.from(document).toString().replace('</cbc:ID>', '9</cbc:ID>'));
      const submission = { ...rest, document: damaged, sha256: sha256(damaged) };
      expect(await authority.submit(submission)).toMatchObject({ kind: 'held' });
      expect((await decided(submission)).decision).toMatchObject({
        outcome: 'rejected',
        problems: [{ code: 'signature_invalid' }],
      });
    });
  });
}

const signer = createDocumentSigner(softwareKey(await makeTestIdentity(new Date(Date.now() - 86_400_000)), true));

/** Makes a signed invoice with a number and an id of its own. */
export async function signedSubmission(customerIce = ORDINARY): Promise<Submission> {
  const { xml, signatureAt } = writeInvoice(
    sampleInvoice({
      number: `${Date.now()}-${++numbers}`,
      customer: { ...COMPANY, ice: customerIce, name: 'Client', address: null, email: null },
    }),
  );
  const document = await signer.sign(unsignedDocument({ xml, signatureAt }), new Date());
  return { submissionId: `inv_${randomUUID()}`, customerIce, document, sha256: sha256(document) };
}

function sha256(document: Uint8Array): string {
  return createHash('sha256').update(document).digest('hex');
}

/** The magic ICE of a scenario. */
function iceOf(scenario: Scenario): string {
  const [ice] = Object.entries(MAGIC_ICES).find(([, each]) => each === scenario) ?? [];
  if (ice === undefined) throw new Error(`there is no ICE for ${scenario}`);
  return ice;
}
