import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { createMockAuthority, type MockAuthorityParts } from '../../../src/adapters/authority/mock/mock-authority.ts';
import { createReceiptReader } from '../../../src/adapters/authority/receipt-reader.ts';
import { softwareKey } from '../../../src/adapters/signing-key/software-key.ts';
import { makeTestIdentity } from '../../../src/adapters/signing-key/test-certificate.ts';
import { unsignedDocument, writeInvoice } from '../../../src/adapters/ubl/write-invoice.ts';
import { trustOfSignature } from '../../../src/adapters/xades/certificate-trust.ts';
import { createDocumentSigner } from '../../../src/adapters/xades/document-signer.ts';
import { verifySignedDocument } from '../../../src/adapters/xades/verify-document.ts';
import type { Authority, LedgerRow, Submission, SubmissionLedger } from '../../../src/domain/authority/ports.ts';
import { COMPANY } from '../../../src/domain/invoice/customer-kind.ts';
import type { Customer } from '../../../src/domain/invoice/invoice.ts';
import { sampleInvoice } from '../ubl/sample-invoice.ts';

const ORDINARY = '001525713000085';
const ACCEPTED = { kind: 'held', submission: { decision: { outcome: 'accepted' } } };
const UNAVAILABLE = { kind: 'not_held', reason: 'unavailable' };
const UNKNOWN = { kind: 'unknown' };
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
  decided: () => Promise.reject(new Error('test/storage/submission-ledger.test.ts')),
  latest: () => Promise.reject(new Error('test/storage/submission-ledger.test.ts')),
  async countRefusal(submissionId) {
    trips.push('countRefusal');
    const count = (refusals.get(submissionId) ?? 0) + 1;
    refusals.set(submissionId, count);
    return count;
  },
};

const key = softwareKey(await makeTestIdentity(new Date(START)));
const signer = createDocumentSigner(key);
const mock = (parts: Partial<MockAuthorityParts> = {}) =>
  createMockAuthority({
    ledger,
    verify: verifySignedDocument,
    clock: () => new Date(now),
    signer,
    readReceipt: createReceiptReader({
      verify: verifySignedDocument,
      trust: (signature) => trustOfSignature(signature, key.certificateChain),
    }),
    ...parts,
  });

beforeEach(() => {
  [rows, refusals, trips, now] = [new Map(), new Map(), [], START];
  authority = mock();
});

function submissionOf(document: Uint8Array, customerIce: string | null): Submission {
  return { submissionId: 'inv_1', customerIce, document, sha256: createHash('sha256').update(document).digest('hex') };
}

async function signed(
  customerIce: string | null,
  change = (xml: string) => xml,
  buyer: Partial<Customer> = {},
): Promise<Submission> {
  const { xml, signatureAt } = writeInvoice(
    sampleInvoice({
      customer: { ...COMPANY, ice: customerIce, name: 'Client', address: null, email: null, ...buyer },
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

describe('a clock that is set back', () => {
  const HOUR_MS = 3_600_000;

  test('during a submission leaves nothing undecided until it has caught up', async () => {
    const times = [START + HOUR_MS];
    authority = mock({ clock: () => new Date(times.shift() ?? START) });
    const submission = await signed(ORDINARY);
    const answer = await authority.submit(submission);
    expect(answer).toMatchObject({ kind: 'held', submission: { decision: { outcome: 'accepted' } } });
    const { decision } = (answer as Extract<typeof answer, { kind: 'held' }>).submission;
    const dgiId = decision?.outcome === 'accepted' ? decision.dgiId : '';
    expect((await authority.receipt({ dgiId, submissionId: 'inv_1' })).kind).not.toBe('absent');
  });

  test('ends the waiting of a scenario, but no difference of the clocks of two processes does', async () => {
    const submission = await signed('999000000000878');
    expect((await authority.submit(submission)).kind).toBe('unknown');
    now = START - 3000;
    expect((await authority.lookUp(submission)).kind).toBe('unknown');
    now = START - HOUR_MS;
    expect((await authority.lookUp(submission)).kind).toBe('held');
  });
});

describe('an ordinary submission', () => {
  test('is accepted at once, at the cost of one write', async () => {
    const submission = await signed(ORDINARY);
    const receipt = await authority.submit(submission);
    expect(receipt).toEqual({
      kind: 'held',
      requestId: null,
      submission: {
        submissionId: 'inv_1',
        decision: {
          outcome: 'accepted',
          dgiId: expect.stringMatching(/^DGI-TEST-[0-9A-F]{16}$/),
          decidedAt: new Date(START),
        },
        warnings: [],
        askAgainAfter: null,
      },
    });
    expect(trips).toEqual(['record']);
    expect(rows.get('inv_1')).toMatchObject({ sha256: submission.sha256, receivedAt: new Date(START) });
    expect(await authority.lookUp(submission)).toEqual(receipt);
  });

  test.each([1, -1])('whose VAT was rounded on each line (%i centime) is accepted', async (centime) => {
    const plain = sampleInvoice();
    const document = writeInvoice({ ...plain, amount: plain.totals.gross + centime });
    expect(document.xml).toContain('PayableRoundingAmount');
    const answer = await authority.submit(
      submissionOf(await signer.sign(unsignedDocument(document), new Date(START)), ORDINARY),
    );
    expect(answer).toMatchObject(ACCEPTED);
  });

  test('gets the same answer again, also after a restart, and is recorded once', async () => {
    const submission = await signed(ORDINARY);
    const first = await authority.submit(submission);
    now += 5000;
    const restarted = mock();
    expect(await restarted.submit(submission)).toEqual(first);
    expect(rows.size).toBe(1);
  });

  test('with another document under the same id is a digest mismatch, and not recorded', async () => {
    const first = await signed(ORDINARY);
    const second = await signed(ORDINARY, (xml) => xml.replace('Prestation 1', 'Prestation 9'));
    await authority.submit(first);
    expect(await authority.submit(second)).toEqual({
      kind: 'digest_mismatch',
      requestId: null,
      heldDigest: first.sha256,
    });
    expect(rows.get('inv_1')?.sha256).toBe(first.sha256);
    expect(await authority.lookUp(second)).toMatchObject({ kind: 'unknown' });
    expect(await authority.lookUp(first)).toMatchObject(ACCEPTED);
  });

  test('that was never made is not found by a look-up', async () => {
    expect(await authority.lookUp({ submissionId: 'inv_1', sha256: 'ff' })).toMatchObject({ kind: 'absent' });
  });
});

describe('a receipt', () => {
  test('states the decision, and its signature is verified', async () => {
    const submission = await signed(ORDINARY);
    await authority.submit(submission);
    const { decision } = rows.get('inv_1')!;
    const dgiId = decision.outcome === 'accepted' ? decision.dgiId : '';
    trips = [];
    expect(await authority.receipt({ dgiId, submissionId: 'inv_1' })).toEqual({
      kind: 'receipt',
      requestId: null,
      receipt: {
        submissionId: 'inv_1',
        dgiId,
        sha256: submission.sha256,
        status: 'accepted',
        decidedAt: new Date(START),
        document: expect.any(Uint8Array),
      },
    });
    expect(trips).toEqual(['find']);
  });

  test('is absent for an unknown identifier, and before the decision is visible', async () => {
    const absent = { kind: 'absent', requestId: null };
    expect(await authority.receipt({ dgiId: 'DGI-TEST-0', submissionId: 'inv_1' })).toEqual(absent);
    await authority.submit(await signed('999000000000393'));
    const { decision } = rows.get('inv_1')!;
    const dgiId = decision.outcome === 'accepted' ? decision.dgiId : '';
    expect(await authority.receipt({ dgiId, submissionId: 'inv_1' })).toMatchObject({ kind: 'absent' });
    now += 10_000;
    expect(await authority.receipt({ dgiId, submissionId: 'inv_1' })).toMatchObject({ kind: 'receipt' });
    expect(await authority.receipt({ dgiId: 'DGI-TEST-0', submissionId: 'inv_1' })).toEqual(absent);
    expect(await authority.receipt({ dgiId, submissionId: 'inv_2' })).toEqual(absent);
  });
});

describe('the magic ICEs', () => {
  test.each([
    [
      '999000000000102',
      'ice_unknown',
      '/Invoice/cac:AccountingCustomerParty/cac:Party/cac:PartyIdentification/cbc:ID',
      /^L’ICE 999000000000102 du client est inconnu .* Vérifiez-le auprès du client\.$/,
    ],
    [
      '999000000000296',
      'duplicate_invoice',
      null,
      /détient déjà une facture .* précisez-le dans le contenu de la nouvelle facture\.$/,
    ],
  ])('%s is rejected as %s, with advice in French', async (ice, code, path, message) => {
    const submission = await signed(ice);
    const receipt = await authority.submit(submission);
    const problems = [{ code, path, message: expect.stringMatching(message) }];
    expect(receipt).toMatchObject({
      kind: 'held',
      submission: { decision: { outcome: 'rejected', problems }, askAgainAfter: null },
    });
    expect(await authority.lookUp(submission)).toEqual(receipt);
  });

  test('999000000000393 is decided after 10 s', async () => {
    const submission = await signed('999000000000393');
    expect(await authority.submit(submission)).toMatchObject({
      kind: 'held',
      submission: { decision: null, askAgainAfter: 10_000 },
    });
    now += 9999;
    expect(await authority.lookUp(submission)).toMatchObject({ submission: { decision: null, askAgainAfter: 1 } });
    now += 1;
    expect(await authority.lookUp(submission)).toMatchObject({
      kind: 'held',
      submission: {
        decision: { outcome: 'accepted', decidedAt: new Date(START + 10_000) },
        askAgainAfter: null,
      },
    });
  });

  test('999000000000490 is refused twice, then accepted', async () => {
    const submission = await signed('999000000000490');
    expect(await authority.submit(submission)).toMatchObject(UNAVAILABLE);
    expect(await authority.lookUp(submission)).toMatchObject({ kind: 'absent' });
    expect(await authority.submit(submission)).toMatchObject(UNAVAILABLE);
    expect(await authority.submit(submission)).toMatchObject(ACCEPTED);
    expect(rows.size).toBe(1);
  });

  test('999000000000587 is always refused, and never recorded', async () => {
    const submission = await signed('999000000000587');
    for (let attempt = 1; attempt <= 6; attempt++)
      expect(await authority.submit(submission)).toMatchObject(UNAVAILABLE);
    expect(await authority.lookUp(submission)).toMatchObject({ kind: 'absent' });
    expect(rows.size).toBe(0);
  });

  test('999000000000684 is received but its reply is lost; a look-up shows it accepted', async () => {
    const submission = await signed('999000000000684');
    expect(await authority.submit(submission)).toMatchObject(UNKNOWN);
    expect(await authority.lookUp(submission)).toMatchObject(ACCEPTED);
  });

  test('999000000000878 gets its receipt after 60 s; until then the outcome is unknown', async () => {
    const submission = await signed('999000000000878');
    expect(await authority.submit(submission)).toMatchObject(UNKNOWN);
    now += 59_999;
    expect(await authority.lookUp(submission)).toMatchObject(UNKNOWN);
    expect(await authority.submit(submission)).toMatchObject(UNKNOWN);
    now += 1;
    expect(await authority.lookUp(submission)).toMatchObject(ACCEPTED);
    expect(rows.size).toBe(1);
  });
});

describe('a customer without an ICE', () => {
  const PERSON = { kind: 'person' } as const;
  const ABROAD = { kind: 'foreign', country: 'FR', taxNumber: 'FR40303265045' } as const;
  const BUYER = '/Invoice/cac:AccountingCustomerParty/cac:Party';
  const withIce = (xml: string) =>
    xml.replace(/(<cac:AccountingCustomerParty[^>]*><cac:Party>)/, (party) => `${party}${ICE_ELEMENT}`);
  const ICE_ELEMENT = `<cac:PartyIdentification><cbc:ID xmlns:cbc="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2">${ORDINARY}</cbc:ID></cac:PartyIdentification>`;

  test.each([
    ['a person', PERSON],
    ['abroad', ABROAD],
    ['abroad without a tax number', { ...ABROAD, taxNumber: null }],
  ] as const)('%s is accepted', async (_which, buyer) => {
    expect(await authority.submit(await signed(null, undefined, buyer))).toMatchObject(ACCEPTED);
  });

  test.each([
    ['named although the submission has an ICE', PERSON, ORDINARY, undefined, 'customer_mismatch', BUYER],
    [
      'whose document has an ICE all the same',
      PERSON,
      null,
      withIce,
      'customer_mismatch',
      `${BUYER}/cac:PartyIdentification/cbc:ID`,
    ],
    ['abroad with an ICE', ABROAD, ORDINARY, withIce, 'ice_unfit', `${BUYER}/cac:PartyIdentification`],
    [
      'in no country',
      PERSON,
      null,
      (xml: string) => xml.replaceAll('>MA<', '>Maroc<'),
      'country_invalid',
      `${BUYER}/cac:PostalAddress/cac:Country/cbc:IdentificationCode`,
    ],
    [
      'in Morocco with a foreign tax number',
      ABROAD,
      null,
      (xml: string) => xml.replace('>FR<', '>MA<'),
      'tax_number_unfit',
      `${BUYER}/cac:PartyTaxScheme/cbc:CompanyID`,
    ],
  ] as [string, Partial<Customer>, string | null, ((xml: string) => string) | undefined, string, string][])(
    '%s is rejected',
    async (_which, buyer, customerIce, change, code, path) => {
      const submission = { ...(await signed(null, change, buyer)), customerIce };
      const answer = await authority.submit(submission);
      expect(answer).toMatchObject({
        kind: 'held',
        submission: { decision: { outcome: 'rejected', problems: [{ code, path }] } },
      });
    },
  );
});

test('an exemption that the VAT breakdown lacks is rejected', async () => {
  const lines = [{ description: 'A', quantity: 1, unitPrice: 5000, amount: 5000, taxRate: 0 as const }];
  const exempt = lines.map((line) => ({ ...line, exemption: { code: 'suspension' as const } }));
  const submit = async (change: (xml: string) => string) => {
    const { xml, signatureAt } = writeInvoice(sampleInvoice({ lines: exempt }));
    const document = unsignedDocument({ xml: change(xml), signatureAt });
    rows.clear();
    return authority.submit(submissionOf(await signer.sign(document, new Date(START)), ORDINARY));
  };
  expect(await submit((xml) => xml)).toMatchObject(ACCEPTED);
  const problem = { code: 'exemption_unfit', path: '/Invoice/cac:InvoiceLine/cbc:Note' };
  const without = await submit((xml) => xml.replace(/(<cbc:TaxExemptionReason[^>]*>)[^<]*/, '$1Autre'));
  expect(without).toMatchObject({ submission: { decision: { outcome: 'rejected', problems: [problem] } } });
});

describe('a broken document is rejected', () => {
  const problemOf = async (submission: Submission) => {
    const answer = await authority.submit(submission);
    if (answer.kind !== 'held' || answer.submission.decision?.outcome !== 'rejected') return answer;
    const { problems } = answer.submission.decision;
    expect(problems).toHaveLength(1);
    return problems[0];
  };

  test('when it was changed after it was signed', async () => {
    const { document } = await signed(ORDINARY);
    const changed = Buffer.from(Buffer.from(document).toString().replace('Prestation 1', 'Prestation 9'));
    expect(await problemOf(submissionOf(changed, ORDINARY))).toEqual({
      code: 'signature_invalid',
      path: null,
      message: expect.stringMatching(
        /^La signature n’est pas valide : le document a été modifié .* Contactez le support/,
      ),
    });
    expect(rows.get('inv_1')?.decision.outcome).toBe('rejected');
  });

  test('when it does not match the announced digest', async () => {
    const submission = await signed(ORDINARY);
    expect(await problemOf({ ...submission, sha256: 'ff' })).toMatchObject({
      code: 'digest_wrong',
      message: expect.stringMatching(/ne correspond pas à l’empreinte annoncée .* Contactez le support/),
    });
  });

  test.each([
    [
      'a line',
      'the amount',
      (xml: string) => xml.replace(/>123\.45(<\/cbc:LineExtensionAmount><cac:Item)/, '>123.46$1'),
      'amount_wrong',
      '/Invoice/cac:InvoiceLine[1]/cbc:LineExtensionAmount',
      /indique 123\.46 pour la ligne 1, au lieu de 123\.45/,
    ],
    [
      'a rate',
      'the VAT',
      (xml: string) => xml.replace('>24.69<', '>24.70<'),
      'amount_wrong',
      '/Invoice/cac:TaxTotal/cac:TaxSubtotal[1]/cbc:TaxAmount',
      /indique 24\.70 pour la TVA à 20 %, au lieu de 24\.69/,
    ],
    [
      'the invoice',
      'the VAT',
      (xml: string) => xml.replace('>132.59<', '>132.58<'),
      'amount_wrong',
      '/Invoice/cac:TaxTotal/cbc:TaxAmount',
      /pour la TVA, au lieu de 132\.59/,
    ],
    [
      'the invoice',
      'the amount to pay',
      (xml: string) => xml.replace(/[\d.]+(<\/cbc:PayableAmount>)/, '1.00$1'),
      'amount_wrong',
      '/Invoice/cac:LegalMonetaryTotal/cbc:PayableAmount',
      /pour le net à payer/,
    ],
    [
      'a rate',
      'the subtotal',
      (xml: string) => xml.replace(/<cac:TaxSubtotal>.*?<\/cac:TaxSubtotal>/, ''),
      'tax_rates_wrong',
      '/Invoice/cac:TaxTotal',
      /la TVA de 4 taux, mais ses lignes en utilisent 5/,
    ],
    [
      'a rate',
      'the percentage',
      (xml: string) => xml.replaceAll('>14</cbc:Percent>', '>13</cbc:Percent>'),
      'tax_rate_invalid',
      expect.stringMatching(/TaxSubtotal\[\d\]\/cac:TaxCategory\/cbc:Percent$/),
      /TVA à 13 %/,
    ],
    [
      'the invoice',
      'the currency',
      (xml: string) => xml.replace(/"MAD"(>[\d.]+<\/cbc:PayableAmount>)/, '"EUR"$1'),
      'currency_invalid',
      '/Invoice/cac:LegalMonetaryTotal/cbc:PayableAmount',
      /pas en dirhams/,
    ],
    [
      'the seller',
      'the ICE',
      (xml: string) => xml.replace('>001234567000088<', '>1234567000088<'),
      'ice_invalid',
      '/Invoice/cac:AccountingSupplierParty/cac:Party/cac:PartyIdentification/cbc:ID',
      /ICE du vendeur/,
    ],
    [
      'the customer',
      'the ICE',
      (xml: string) => xml.replace('>001525713000085<', '>001525713000086<'),
      'customer_mismatch',
      '/Invoice/cac:AccountingCustomerParty/cac:Party/cac:PartyIdentification/cbc:ID',
      /désigne le client 001525713000086 mais le document a été transmis pour 001525713000085/,
    ],
    [
      'the invoice',
      'the number',
      (xml: string) => xml.replace(/<cbc:ID[^>]*>2026-000123<\/cbc:ID>/, ''),
      'element_missing',
      '/Invoice',
      /doit contenir exactement un élément ID/,
    ],
    [
      'the payment',
      'the due date',
      (xml: string) => xml.replace('>2027-01-20<', '>2026-11-20<'),
      'due_date_invalid',
      '/Invoice/cbc:DueDate',
      /précède la date de la facture/,
    ],
    [
      'the payment',
      'the due date',
      (xml: string) => xml.replace('>2027-01-20<', '>2027-02-30<'),
      'due_date_invalid',
      '/Invoice/cbc:DueDate',
      /échéance n’est pas une date/,
    ],
    [
      'the operation',
      'the date',
      (xml: string) => xml.replace('>2026-10-31<', '>31.10.2026<'),
      'operation_date_invalid',
      '/Invoice/cac:Delivery/cbc:ActualDeliveryDate',
      /opération n’est pas une date/,
    ],
    [
      'the payment',
      'the code',
      (xml: string) => xml.replace(/>30(<\/cbc:PaymentMeansCode>)/, '>cash$1'),
      'payment_means_invalid',
      '/Invoice/cac:PaymentMeans/cbc:PaymentMeansCode',
      /UNCL4461/,
    ],
    [
      'the payment',
      'the account',
      (xml: string) => xml.replace(/<cac:PayeeFinancialAccount>.*?<\/cac:PayeeFinancialAccount>/, ''),
      'account_missing',
      '/Invoice/cac:PaymentMeans',
      /sans indiquer de compte/,
    ],
    [
      'the payment',
      'the key of the account',
      (xml: string) => xml.replace('>999780000128473900001726<', '>999780000128473900001727<'),
      'account_invalid',
      '/Invoice/cac:PaymentMeans/cac:PayeeFinancialAccount/cbc:ID',
      /RIB dont la clé est juste/,
    ],
  ])('although its signature is valid: in %s, %s is wrong', async (_of, _what, change, code, path, message) => {
    const submission = await signed(ORDINARY, (xml) => {
      const changed = change(xml);
      expect(changed).not.toBe(xml);
      return changed;
    });
    const problem = await problemOf(submission);
    expect(problem).toEqual({ code, path, message: expect.stringMatching(message) });
    expect(problem).toMatchObject({ message: expect.stringMatching(/ : contactez son support\.$/) });
  });

  test('but not when it could not be examined; then nothing is recorded', async () => {
    const failing = mock({ verify: () => Promise.reject(new Error('no thread')) });
    expect(await failing.submit(await signed(ORDINARY))).toMatchObject(UNAVAILABLE);
    expect(trips).toEqual([]);
  });
});
