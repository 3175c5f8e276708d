import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoBulkWriteError } from 'mongodb';
import { expect, it } from 'vitest';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import { startEngine } from '../../src/engine/embedded.ts';
import { connect } from '../../src/storage/connect.ts';
import { createDocumentStore } from '../../src/storage/documents.ts';
import { createInvoiceRepository } from '../../src/storage/invoices.ts';
import { createSubmissionLedger } from '../../src/storage/submission-ledger.ts';
import { outageOf } from '../../src/storage/unavailable.ts';
import { writeErrorsOf } from '../../src/storage/write-errors.ts';
import { claimOne, pendingInvoice } from '../support/invoices.ts';

const NOW = new Date();
const ROW = {
  submissionId: 'inv_1',
  sha256: '00',
  receivedAt: NOW,
  decisionAt: NOW,
  receiptAt: NOW,
  decision: { outcome: 'rejected', problems: [], decidedAt: NOW },
} as const;

it('an outage of the store is known as one to every caller of a group', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'engine-'));
  const engine = await startEngine({ dataDir: folder });
  const store = await connect(engine.uri);
  try {
    const invoices = createInvoiceRepository(store.db);
    const insert = () => invoices.insert(pendingInvoice({}), newCreationMoment().order, null);
    const held = pendingInvoice({});
    await invoices.insert(held, newCreationMoment().order, null);
    const claim = await claimOne(invoices, held.id, 60_000);
    if (!claim) throw new Error('the invoice cannot be claimed');
    await engine.close();
    const change = { work: { stage: 'sign', attempts: 0, outcomeUnknown: false, in: 0, keep: true } } as const;
    const failures = await Promise.allSettled([
      insert(),
      insert(),
      invoices.change(claim, change, 60_000),
      createDocumentStore(store.db).put(Buffer.from('<a/>'), 'a.xml', 'application/xml'),
      createSubmissionLedger(store.db).record(ROW),
    ]);
    expect(failures.map((each) => each.status === 'rejected' && outageOf(each.reason))).toEqual(
      failures.map(() => 'away'),
    );
  } finally {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
});

it('no document counts as written if the write concern failed, even if only some have errors of their own', () => {
  const error = new MongoBulkWriteError({ message: 'E11000', code: 11000, writeErrors: [] }, {
    getWriteConcernError: () => ({ errmsg: 'no majority', code: 64 }),
  } as never);
  error.writeErrors = [{ index: 0, code: 11000, errmsg: 'E11000' }] as never;
  expect(() => writeErrorsOf(error)).toThrow(error);
});
