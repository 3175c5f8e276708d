import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../scripts/authority-simulator/simulator.ts';
import { createHttpAuthority, type HttpAuthority } from '../../src/adapters/authority/http/authority-http.ts';
import { openCredentials } from '../../src/adapters/authority/http/credentials.ts';
import { loadPkcs12 } from '../../src/adapters/signing-key/pkcs12.ts';
import { composeReconciliation } from '../../src/app/reconciliation.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { type AuthorityClient, authorityClient, digestOf, signedDocument } from '../support/authority-client.ts';
import { freePort } from '../support/free-ports.ts';
import { invoicesOf, pendingInvoice } from '../support/invoices.ts';
import { startService, type TestService } from '../support/service.ts';

// The live adapter and the simulator, with its own callbacks and ledger, beside a service.

const HOUR_MS = 3_600_000;
const NO_LOG = { warn: () => {}, info: () => {} };

let simulator: Simulator;
let authority: HttpAuthority;
let client: AuthorityClient;
let service: TestService;

beforeAll(async () => {
  const port = await freePort();
  simulator = await startSimulator({
    profile: 'callback',
    callbackUrl: `http://127.0.0.1:${port}/authority/callback`,
    // Control decides.
    decisionDelay: HOUR_MS,
  });
  const { settings } = simulator;
  const credentials = await openCredentials(
    {
      ca: settings.DGI_CA,
      clientP12: { file: settings.DGI_CLIENT_P12, passphrase: settings.DGI_CLIENT_P12_PASSPHRASE },
      clientKey: settings.DGI_CLIENT_KEY,
    },
    { readP12: loadPkcs12, log: NO_LOG },
  );
  const token = { url: settings.DGI_TOKEN_URL, clientId: settings.DGI_CLIENT_ID };
  authority = createHttpAuthority(
    { url: settings.DGI_URL, token, concurrency: 16 },
    { credentials, log: NO_LOG, readReceipt: async () => ({ kind: 'invalid', message: 'no reader' }) },
  );
  client = await authorityClient(settings);
  const live = { authority, callbackSecret: settings.DGI_CALLBACK_SECRET };
  service = await startService({ PORT: String(port) }, undefined, false, live);
});
afterAll(async () => {
  await service?.close();
  await client?.close();
  await authority?.close();
  await simulator?.close();
});

const invoices = () => service.app.store.db.collection<InvoiceDocument>('invoices');
const statusOf = async (id: string) => (await invoices().findOne({ _id: id }))?.status;

/** A live invoice that the simulator holds undecided, with the service's own look-up in an hour. @returns its id */
async function transmitted(changes: Record<string, unknown> = {}): Promise<string> {
  const invoice = pendingInvoice({ environment: 'live', createdAt: new Date(Date.now() + HOUR_MS) });
  const document = await signedDocument();
  expect((await client.put(invoice.id, document)).body).toMatchObject({ id: invoice.id, decided_at: null });
  await invoicesOf(service.app.store.db).insert(invoice, newCreationMoment().order, null);
  const xml = { file: 'f', sha256: digestOf(document), size: document.length };
  const $set = { status: 'transmitted', 'work.stage': 'decide', xml, ...changes };
  await invoices().updateOne({ _id: invoice.id }, { $set } as never);
  return invoice.id;
}

const PROBLEM = { code: 'ice_unknown', path: null, message: 'ICE inconnu.' };

it('a decision of the authority is known at once, by its callback', async () => {
  const id = await transmitted();
  await simulator.control.decide(id, [PROBLEM]);
  await expect.poll(() => statusOf(id)).toBe('rejected');
  expect((await invoices().findOne({ _id: id }))?.authorityAttempts).toMatchObject([{ purpose: 'look_up' }]);
});

it('callbacks that are forged, old, or of an unknown id change nothing', async () => {
  const id = await transmitted();
  const before = await invoices().findOne({ _id: id });
  const send = (callback: object) =>
    simulator.control.callback({ id, status: 'accepted', count: 3, ...callback } as never);
  expect(await send({ forged: true })).toEqual({ 401: 3 });
  expect(await send({ age: 301_000 })).toEqual({ 401: 3 });
  expect(await send({ id: 'inv_unknown' })).toEqual({ 204: 3 });
  expect(await invoices().findOne({ _id: id })).toEqual(before);
});

it('a reconciliation reads the ledger over HTTPS, has what it missed looked up, and shows the rest', async () => {
  const { reconcile, differences } = composeReconciliation(service.app.store.db, authority, () => undefined);
  await reconcile();
  simulator.control.addFault({ kind: 'callback-lost' });
  const missed = await transmitted();
  const wrong = await transmitted({ status: 'accepted', dgiId: 'DGI-OTHER' });
  await simulator.control.decide(missed, [PROBLEM]);
  await simulator.control.decide(wrong);
  expect(await statusOf(missed)).toBe('transmitted');
  expect(await reconcile()).toMatchObject({ outcome: 'complete', entries: 2, healed: 1, found: 1 });
  expect(await differences.unresolved('other_dgi_id', null, 10)).toMatchObject([
    { submissionId: wrong, ours: 'DGI-OTHER' },
  ]);
  await expect.poll(() => statusOf(missed)).toBe('rejected');
});
