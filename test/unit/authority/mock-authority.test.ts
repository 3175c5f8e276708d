import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { createMockAuthority } from '../../../src/adapters/authority/mock/mock-authority.ts';
import { softwareKey } from '../../../src/adapters/signing-key/software-key.ts';
import { makeTestIdentity } from '../../../src/adapters/signing-key/test-certificate.ts';
import { unsignedDocument, writeInvoice } from '../../../src/adapters/ubl/write-invoice.ts';
import { createDocumentSigner } from '../../../src/adapters/xades/document-signer.ts';
import { verifySignedDocument } from '../../../src/adapters/xades/verify-document.ts';
import {
  type Authority,
  type LedgerRow,
  NotReceived,
  OutcomeUnknown,
  type Submission,
  type SubmissionLedger,
} from '../../../src/domain/invoice/ports.ts';
import { sampleInvoice } from '../ubl/sample-invoice.ts';

const ORDINARY = '001525713000085';
const START = new Date('2026-11-21T10:00:00Z').getTime();

let rows: Map<string, LedgerRow>;
let refusals: Map<string, number>;
/** Calls of the ledger, in order. */
let trips: string[];
let now: number;
let authority: Authority;

const ledger: SubmissionLedger = {
  async record(row) {
    trips.push('record');
    const kept = rows.get(row.submissionId) ?? row;
    rows.set(row.submissionId, kept);
    return kept;
  },
  async find(submissionId) {
    trips.push('find');
    return rows.get(submissionId) ?? null;
  },
  async countRefusal(submissionId) {
    trips.push('countRefusal');
    const count = (refusals.get(submissionId) ?? 0) + 1;
    refusals.set(submissionId, count);
    return count;
  },
};

const signer = createDocumentSigner(softwareKey(await makeTestIdentity(new Date(START))));

beforeEach(() => {
  [rows, refusals, trips, now] = [new Map(), new Map(), [], START];
  authority = createMockAuthority({ ledger, verify: verifySignedDocument, clock: () => new Date(now) });
});

function submissionOf(document: Uint8Array, customerIce: string): Submission {
  return { submissionId: 'inv_1', customerIce, document, sha256: createHash('sha256').update(document).digest('hex') };
}

async function signed(customerIce: string, change = (xml: string) => xml): Promise<Submission> {
  const { xml, signatureAt } = writeInvoice(
    sampleInvoice({
      customer: { ice: customerIce, name: 'Client', address: null, email: null },
      terms: {
        operationDate: '2026-10-31',
        dueDate: '2027-01-20',
        paymentMode: 'Virement bancaire',
        paymentMeans: 'transfer',
        paymentReference: 'CMD 4711',
        bankAccount: '999780000128473900001726',
      },
    }),
  );
  return submissionOf(
    await signer.sign(unsignedDocument({ xml: change(xml), signatureAt }), new Date(START)),
    customerIce,
  );
}

describe('an ordinary submission', () => {
  test('is accepted at once, at the cost of one write', async () => {
    const submission = await signed(ORDINARY);
    const receipt = await authority.submit(submission);
    expect(receipt).toEqual({
      decision: {
        outcome: 'accepted',
        dgiId: expect.stringMatching(/^DGI-TEST-[0-9A-F]{16}$/),
        decidedAt: new Date(START),
      },
      askAgainAfter: null,
    });
    expect(trips).toEqual(['record']);
    expect(rows.get('inv_1')).toMatchObject({ sha256: submission.sha256, receivedAt: new Date(START) });
    expect(await authority.lookUp('inv_1', submission.sha256)).toEqual(receipt);
  });

  test.each([1, -1])('whose VAT was rounded on each line (%i centime) is accepted', async (centime) => {
    const plain = sampleInvoice();
    const document = writeInvoice({ ...plain, amount: plain.totals.gross + centime });
    expect(document.xml).toContain('PayableRoundingAmount');
    const { decision } = await authority.submit(
      submissionOf(await signer.sign(unsignedDocument(document), new Date(START)), ORDINARY),
    );
    expect(decision).toMatchObject({ outcome: 'accepted' });
  });

  test('gets the same answer again, also after a restart, and is recorded once', async () => {
    const submission = await signed(ORDINARY);
    const first = await authority.submit(submission);
    now += 5000;
    const restarted = createMockAuthority({ ledger, verify: verifySignedDocument, clock: () => new Date(now) });
    expect(await restarted.submit(submission)).toEqual(first);
    expect(rows.size).toBe(1);
  });

  test('is rejected as a duplicate when it has another document, which is not recorded', async () => {
    const first = await signed(ORDINARY);
    const second = await signed(ORDINARY, (xml) => xml.replace('Prestation 1', 'Prestation 9'));
    await authority.submit(first);
    const { decision } = await authority.submit(second);
    expect(decision).toMatchObject({
      outcome: 'rejected',
      reason: expect.stringContaining('already holds a different document'),
    });
    expect(rows.get('inv_1')?.sha256).toBe(first.sha256);
    expect(await authority.lookUp('inv_1', second.sha256)).toBeNull();
    expect(await authority.lookUp('inv_1', first.sha256)).toMatchObject({ decision: { outcome: 'accepted' } });
  });

  test('that was never made is not found by a look-up', async () => {
    expect(await authority.lookUp('inv_1', 'ff')).toBeNull();
  });
});

describe('the magic ICEs', () => {
  test.each([
    ['999000000000102', /ICE 999000000000102 is unknown .* Check the ICE with the customer and issue a new invoice\.$/],
    ['999000000000296', /already holds an invoice .* make the content of the new invoice say so\.$/],
  ])('%s is rejected with advice', async (ice, reason) => {
    const submission = await signed(ice);
    const receipt = await authority.submit(submission);
    expect(receipt).toMatchObject({
      decision: { outcome: 'rejected', reason: expect.stringMatching(reason) },
      askAgainAfter: null,
    });
    expect(await authority.lookUp('inv_1', submission.sha256)).toEqual(receipt);
  });

  test('999000000000393 is decided after 10 s', async () => {
    const submission = await signed('999000000000393');
    expect(await authority.submit(submission)).toEqual({ decision: null, askAgainAfter: 10_000 });
    now += 9999;
    expect(await authority.lookUp('inv_1', submission.sha256)).toEqual({ decision: null, askAgainAfter: 1 });
    now += 1;
    expect(await authority.lookUp('inv_1', submission.sha256)).toMatchObject({
      decision: { outcome: 'accepted', decidedAt: new Date(START + 10_000) },
      askAgainAfter: null,
    });
  });

  test('999000000000490 is refused twice, then accepted', async () => {
    const submission = await signed('999000000000490');
    await expect(authority.submit(submission)).rejects.toThrow(NotReceived);
    expect(await authority.lookUp('inv_1', submission.sha256)).toBeNull();
    await expect(authority.submit(submission)).rejects.toThrow(NotReceived);
    expect(await authority.submit(submission)).toMatchObject({ decision: { outcome: 'accepted' } });
    expect(rows.size).toBe(1);
  });

  test('999000000000587 is always refused, and never recorded', async () => {
    const submission = await signed('999000000000587');
    for (let attempt = 1; attempt <= 6; attempt++)
      await expect(authority.submit(submission)).rejects.toThrow(NotReceived);
    expect(await authority.lookUp('inv_1', submission.sha256)).toBeNull();
    expect(rows.size).toBe(0);
  });

  test('999000000000684 is received but its reply is lost; a look-up shows it accepted', async () => {
    const submission = await signed('999000000000684');
    await expect(authority.submit(submission)).rejects.toThrow(OutcomeUnknown);
    expect(await authority.lookUp('inv_1', submission.sha256)).toMatchObject({ decision: { outcome: 'accepted' } });
  });

  test('999000000000878 gets its receipt after 60 s; until then the outcome is unknown', async () => {
    const submission = await signed('999000000000878');
    await expect(authority.submit(submission)).rejects.toThrow(OutcomeUnknown);
    now += 59_999;
    await expect(authority.lookUp('inv_1', submission.sha256)).rejects.toThrow(OutcomeUnknown);
    await expect(authority.submit(submission)).rejects.toThrow(OutcomeUnknown);
    now += 1;
    expect(await authority.lookUp('inv_1', submission.sha256)).toMatchObject({ decision: { outcome: 'accepted' } });
    expect(rows.size).toBe(1);
  });
});

describe('a broken document is rejected', () => {
  const reasonOf = async (submission: Submission) => {
    const { decision } = await authority.submit(submission);
    return decision?.outcome === 'rejected' ? decision.reason : decision;
  };

  test('when it was changed after it was signed', async () => {
    const { document } = await signed(ORDINARY);
    const changed = Buffer.from(Buffer.from(document).toString().replace('Prestation 1', 'Prestation 9'));
    expect(await reasonOf(submissionOf(changed, ORDINARY))).toMatch(
      /^The signature is not valid\. The document was changed .* issue a new invoice\.$/,
    );
    expect(rows.get('inv_1')?.decision.outcome).toBe('rejected');
  });

  test('when it does not match the announced digest', async () => {
    const submission = await signed(ORDINARY);
    expect(await reasonOf({ ...submission, sha256: 'ff' })).toMatch(/does not match the announced digest/);
  });

  test.each([
    [
      'a line',
      'the amount',
      (xml: string) => xml.replace(/>123\.45(<\/cbc:LineExtensionAmount><cac:Item)/, '>123.46$1'),
      /states 123\.46 for line 1, but it should be 123\.45/,
    ],
    [
      'a rate',
      'the VAT',
      (xml: string) => xml.replace('>24.69<', '>24.70<'),
      /states 24\.70 for the VAT at 20 %, but it should be 24\.69/,
    ],
    [
      'the invoice',
      'the VAT',
      (xml: string) => xml.replace('>132.59<', '>132.58<'),
      /for the VAT, but it should be 132\.59/,
    ],
    [
      'the invoice',
      'the amount to pay',
      (xml: string) => xml.replace(/[\d.]+(<\/cbc:PayableAmount>)/, '1.00$1'),
      /for the amount to pay/,
    ],
    [
      'a rate',
      'the subtotal',
      (xml: string) => xml.replace(/<cac:TaxSubtotal>.*?<\/cac:TaxSubtotal>/, ''),
      /VAT for 4 rates but its lines use 5/,
    ],
    [
      'a rate',
      'the percentage',
      (xml: string) => xml.replaceAll('>14</cbc:Percent>', '>13</cbc:Percent>'),
      /VAT at 13 %/,
    ],
    [
      'the invoice',
      'the currency',
      (xml: string) => xml.replace(/"MAD"(>[\d.]+<\/cbc:PayableAmount>)/, '"EUR"$1'),
      /not in dirhams/,
    ],
    ['the seller', 'the ICE', (xml: string) => xml.replace('>001234567000088<', '>1234567000088<'), /seller's ICE/],
    [
      'the customer',
      'the ICE',
      (xml: string) => xml.replace('>001525713000085<', '>001525713000086<'),
      /names the customer 001525713000086/,
    ],
    [
      'the invoice',
      'the number',
      (xml: string) => xml.replace(/<cbc:ID[^>]*>2026-000123<\/cbc:ID>/, ''),
      /must contain exactly one ID/,
    ],
    ['the payment', 'the due date', (xml: string) => xml.replace('>2027-01-20<', '>2026-11-20<'), /due before its own/],
    ['the payment', 'the due date', (xml: string) => xml.replace('>2027-01-20<', '>2027-02-30<'), /due date is not a/],
    ['the operation', 'the date', (xml: string) => xml.replace('>2026-10-31<', '>31.10.2026<'), /operation is not a/],
    ['the payment', 'the code', (xml: string) => xml.replace(/>30(<\/cbc:PaymentMeansCode>)/, '>cash$1'), /UNCL4461/],
    [
      'the payment',
      'the account',
      (xml: string) => xml.replace(/<cac:PayeeFinancialAccount>.*?<\/cac:PayeeFinancialAccount>/, ''),
      /names no account/,
    ],
    [
      'the payment',
      'the key of the account',
      (xml: string) => xml.replace('>999780000128473900001726<', '>999780000128473900001727<'),
      /not a RIB with a correct check key/,
    ],
  ])('although its signature is valid: in %s, %s is wrong', async (_of, _what, change, reason) => {
    const submission = await signed(ORDINARY, (xml) => {
      const changed = change(xml);
      expect(changed).not.toBe(xml);
      return changed;
    });
    expect(await reasonOf(submission)).toMatch(reason);
    expect(await reasonOf(submission)).toMatch(/contact its support, then issue a new invoice\.$/);
  });

  test('but not when it could not be examined; then nothing is recorded', async () => {
    const failing = createMockAuthority({ ledger, verify: () => Promise.reject(new Error('no thread')) });
    await expect(failing.submit(await signed(ORDINARY))).rejects.toThrow(NotReceived);
    expect(trips).toEqual([]);
  });
});
