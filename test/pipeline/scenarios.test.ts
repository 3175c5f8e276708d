import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { verifySignedDocument } from '../../src/adapters/xades/verify-document.ts';
import { TEST_TRANSMIT_SCHEDULE } from '../../src/app/worker.ts';
import { Client, invoiceFor } from '../support/client.ts';
import { STAND_IN_PDF, type TestService, withSharedService } from '../support/service.ts';

let service: TestService;
let client: Client;

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  client = new Client(service.url, (await service.tenant()).secretKey);
});

async function outcome(ice: string) {
  const { body } = await client.post('/v1/invoices', invoiceFor(ice));
  const settled = await client.settled(body.id);
  // biome-ignore lint/suspicious/noExplicitAny: the stored document
  const stored: any = await service.app.store.db.collection('invoices').findOne({ _id: body.id });
  const ledger = await service.app.store.db
    .collection<{ _id: string; sha256: string }>('mock_submissions')
    .find({ _id: body.id })
    .toArray();
  const statuses: string[] = stored.events.map((event: { status: string }) => event.status);
  return { settled, stored, ledger, statuses };
}

const ACCEPTED = ['signing', 'transmitted', 'accepted'];

describe('the pipeline', () => {
  it('accepts an ordinary invoice: each status once, documents stored, one submission with the served bytes', async () => {
    const { settled, stored, ledger, statuses } = await outcome('001234567000089');
    expect(statuses).toEqual(ACCEPTED);
    expect(stored.events.map((event: { sequence: number }) => event.sequence)).toEqual([1, 2, 3]);
    expect(settled).toMatchObject({
      status: 'accepted',
      dgi_id: expect.stringMatching(/^DGI-TEST-/),
      rejection_reason: null,
    });
    expect(settled.updated_at >= settled.created_at).toBe(true);
    const xml = Buffer.from(await (await fetch(settled.xml_url)).arrayBuffer());
    const sha256 = createHash('sha256').update(xml).digest('hex');
    expect(ledger.map((row) => row.sha256)).toEqual([sha256]);
    expect(stored.xml.sha256).toBe(sha256);
    expect(await verifySignedDocument(xml)).toMatchObject({ valid: true, covered: { type: 'Invoice' } });
    const pdf = await fetch(settled.pdf_url);
    expect([pdf.status, pdf.headers.get('content-type')]).toEqual([200, 'application/pdf']);
    expect(Buffer.from(await pdf.arrayBuffer()).equals(STAND_IN_PDF)).toBe(true);
    const done = await service.app.store.db.collection('invoices').findOne({ _id: settled.id });
    expect(done?.work).toBeUndefined();
  });
});

// Beside one another: most of their time is waiting.
describe.concurrent('magic ICEs (docs/decisions/0029)', () => {
  it.each([
    ['999000000000102', 'ice_unknown', / Vérifiez-le auprès du client\. /],
    ['999000000000296', 'duplicate_invoice', / Cherchez-la parmi vos factures /],
  ])(
    '%s is rejected by the authority as %s, with a reason in French that ends with what to do',
    async (ice, code, advice) => {
      const { settled, stored, statuses } = await outcome(ice);
      expect(statuses).toEqual(['signing', 'transmitted', 'rejected']);
      expect(settled).toMatchObject({
        dgi_id: null,
        xml_url: null,
        pdf_url: null,
        rejection_reason: expect.stringMatching(
          / Après correction, créez une nouvelle facture, avec une nouvelle Idempotency-Key\.$/,
        ),
      });
      expect(settled.rejection_reason).toMatch(advice);
      expect(stored.problems).toMatchObject([{ code, message: expect.stringMatching(/\.$/) }]);
    },
  );

  it('999000000000393 is decided after 10 s', async () => {
    const start = Date.now();
    const { statuses } = await outcome('999000000000393');
    expect(statuses).toEqual(ACCEPTED);
    expect(Date.now() - start).toBeGreaterThan(9500);
  });

  it('999000000000490 is accepted at the third attempt, and received once', async () => {
    const { statuses, ledger } = await outcome('999000000000490');
    expect(statuses).toEqual(ACCEPTED);
    expect(ledger).toHaveLength(1);
  });

  it('999000000000587 is rejected after five attempts within 15 s, never received', async () => {
    const { settled, stored, statuses, ledger } = await outcome('999000000000587');
    expect(statuses).toEqual(['signing', 'rejected']);
    expect(settled.rejection_reason).toMatch(
      /^dgi_transmission_failed: .*\. Créez la facture à nouveau, avec une nouvelle Idempotency-Key, [^.]*\.$/,
    );
    expect(ledger).toHaveLength(0);
    expect(stored.authorityAttempts.filter(({ purpose }: { purpose: string }) => purpose === 'submit')).toHaveLength(5);
    // The delays leave enough time for the attempts, also on a busy machine.
    expect(TEST_TRANSMIT_SCHEDULE.reduce((sum: number, pause) => sum + pause, 0)).toBeLessThanOrEqual(13_000);
  });

  it('999000000000684 is looked up after its reply was lost, not sent again', async () => {
    const { statuses, ledger } = await outcome('999000000000684');
    expect(statuses).toEqual(ACCEPTED);
    expect(ledger).toHaveLength(1);
  });

  it('999000000000781 is rejected with signature_error and never sent', async () => {
    const { settled, statuses, ledger } = await outcome('999000000000781');
    expect(statuses).toEqual(['signing', 'rejected']);
    expect(settled.rejection_reason).toMatch(
      /^signature_error: .*[^.]\. Créez la facture à nouveau, avec une nouvelle Idempotency-Key ; [^.]*\.$/,
    );
    expect(ledger).toHaveLength(0);
  });
});
