import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../scripts/authority-simulator/simulator.ts';
import { openCommandAuthority } from '../../src/app/authority.ts';
import { commandParts } from '../../src/app/command-parts.ts';
import * as reconciliation from '../../src/app/reconciliation.ts';
import type { CommandContext } from '../../src/cli/command.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { runCommandLine } from '../../src/cli/run.ts';
import { type Config, readConfig } from '../../src/config.ts';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import { createEraseTenant } from '../../src/domain/tenant-data/erase-tenant.ts';
import { findInconsistencies } from '../../src/storage/consistency.ts';
import { createErasureStore } from '../../src/storage/erasure.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { freshDbName, startTestMongo } from '../support/mongodb.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { recordingTerminal } from '../support/recording-terminal.ts';
import { startService, type TestService, withDatabase } from '../support/service.ts';

// A restore of older data loses invoices that the authority has; clients then repeat their requests.

let simulator: Simulator;
let receiver: Receiver;
let service: TestService;
let settings: Record<string, string>;

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'restored-'));
  const mongo = await startTestMongo();
  [simulator, receiver] = await Promise.all([startSimulator({ decisionDelay: 0 }), startReceiver()]);
  settings = {
    ...simulator.settings,
    MONGODB_URL: withDatabase(mongo.uri, freshDbName('restored')),
    MASTER_KEY: 'fedcba9876543210'.repeat(4),
    DATA_DIR: join(folder, 'data'),
    ALLOW_INSECURE_WEBHOOKS: 'true',
    LOG_LEVEL: 'silent',
  };
  service = await startService(settings);
  return async () => {
    await service.close();
    await Promise.all([simulator.close(), receiver.close(), mongo.close()]);
    await rm(folder, { recursive: true, force: true });
  };
});

async function cli(...args: string[]) {
  const { terminal, texts } = recordingTerminal();
  const context: CommandContext = {
    terminal,
    config: () => readConfig(settings),
    environmentKey: () => null,
    parts: {
      ...commandParts,
      reconciliation: async () => ({
        ...reconciliation,
        openReconciliation: (config: Config) =>
          reconciliation.openReconciliation(config, (given) => openCommandAuthority(given, 'silent')),
      }),
    },
  };
  return { code: await runCommandLine(args, COMMANDS, context), ...texts };
}

const invoices = () => service.app.store.db.collection<InvoiceDocument>('invoices');
let sellers = 0;

/** A tenant whose client repeats the creation of a lost invoice that the authority has accepted. */
async function repeated() {
  const ice = `00${String(++sellers).padStart(9, '0')}0000`;
  const { id: tenantId } = await service.tenant({ ...SPECIMEN_SELLER, legalName: 'Atlas SARL', ice });
  const client = new Client(service.url, await service.liveKey(tenantId));
  const order = () => client.post('/v1/invoices', invoiceBody(), { 'Idempotency-Key': 'order 1' });
  const lost = (await order()).body;
  expect(await client.settled(lost.id)).toMatchObject({ status: 'accepted' });
  await expect.poll(async () => (await invoices().findOne({ _id: lost.id }))?.outbox ?? null).toBeNull();
  await invoices().deleteOne({ _id: lost.id });
  // The older data has the sums of its time.
  await service.app.store.db.collection('day_sums').deleteMany({ _id: { $regex: `^${tenantId} ` } as never });
  // The signature has a time in whole seconds.
  await sleep(1100);
  const { body } = await order();
  expect(body.id).toBe(lost.id);
  await expect.poll(async () => (await invoices().findOne({ _id: body.id }))?.work?.blocked).toBe('digest_mismatch');
  return { tenantId, client, invoice: body };
}

it('a repeated invoice that the authority has is ended by an operator, like any other rejection, once', async () => {
  const { tenantId, client, invoice } = await repeated();
  await client.post('/v1/webhook_endpoints', { url: receiver.url, events: ['invoice.rejected'] });
  const stream = await fetch(`${service.url}/v1/invoices/${invoice.id}/stream`, {
    headers: { Authorization: `Bearer ${invoice.client_secret}` },
  });
  const abandon = ['invoices', 'abandon', invoice.id, '--reason', ' Restauration\ndu 3 novembre '];
  expect((await cli('invoices', 'abandon', invoice.id)).code).toBe(2);
  expect(await cli('invoices', 'abandon', invoice.id, '--reason', 'x'.repeat(501))).toMatchObject({
    code: 2,
    err: expect.stringContaining('1 to 500 characters'),
  });
  expect(await cli('invoices', 'abandon', 'inv_x', '--reason', 'x')).toMatchObject({
    code: 1,
    err: "There is no invoice 'inv_x'.\n",
  });

  const [first, second] = [await cli(...abandon, '--json'), await cli(...abandon, '--json')];
  expect([first.code, second.code]).toEqual([0, 0]);
  const reason = expect.stringMatching(/mis fin .* un autre document .*: Restauration du 3 novembre\. .*légale/);
  expect(JSON.parse(first.out)).toMatchObject({
    id: invoice.id,
    status: 'rejected',
    rejection_reason: reason,
    new: true,
  });
  expect(JSON.parse(second.out)).toEqual({ ...JSON.parse(first.out), new: false });
  expect((await cli(...abandon)).out).toMatch(/^It was abandoned before: L’exploitant/);

  const shown = (await client.get(`/v1/invoices/${invoice.id}`)).body;
  expect(shown).toMatchObject({
    status: 'rejected',
    rejection_reason: reason,
    dgi_id: null,
    xml_url: null,
    pdf_url: null,
  });
  // The stream ends with it, and the running service sends the webhook.
  expect(await stream.text()).toMatch(/"status":"rejected"/);
  await expect.poll(() => receiver.received.map(({ event }) => event.data.id)).toEqual([invoice.id]);
  expect(receiver.received[0]?.event).toMatchObject({ type: 'invoice.rejected', data: { rejection_reason: reason } });

  const entries = await service.app.store.db.collection('audit_log').find({ action: 'invoice.abandoned' }).toArray();
  expect(entries).toMatchObject([
    { tenantId, subject: invoice.id, environment: 'live', details: { reason: 'Restauration du 3 novembre' } },
  ]);
  expect((await cli('invoices', 'attention')).out).toBe('No invoice needs attention.\n');
  expect((await cli('invoices', 'retry', invoice.id)).code).toBe(1);
  expect((await client.post('/v1/invoices', invoiceBody(), { 'Idempotency-Key': 'order 1' })).status).toBe(201);
  expect((await invoices().findOne({ _id: invoice.id }))?.status).toBe('rejected');
  expect(simulator.control.find(invoice.id)).toMatchObject({ status: 'accepted' });

  const reconciled = await cli('authority', 'reconcile');
  expect(reconciled).toMatchObject({
    code: 1,
    out: expect.stringMatching(new RegExp(`other_digest +${invoice.id} .* accepted as `)),
  });
  const known = await cli('authority', 'acknowledge', 'other_digest', invoice.id, '--reason', 'Restauration');
  expect(known).toMatchObject({ code: 0, err: '' });
  expect((await cli('authority', 'reconcile')).code).toBe(0);
});

it('the erasure of its tenant ends, although nobody reads it any more', async () => {
  const { tenantId, invoice } = await repeated();
  let ahead = 0;
  const { erase } = createEraseTenant({
    store: createErasureStore(service.app.store.db),
    alone: false,
    retentionYears: 10,
    now: () => new Date(Date.now() + ahead),
    year: () => new Date().getUTCFullYear(),
    pause: async (ms) => {
      ahead += ms;
      await sleep(0);
    },
  });
  const whole = async () => {
    await erase(tenantId, () => undefined);
    ahead += 60_000;
    return erase(tenantId, () => undefined);
  };
  expect(await whole()).toEqual({ underWay: 1, isDone: false });
  expect(await cli('invoices', 'abandon', invoice.id, '--reason', 'Restauration')).toMatchObject({ code: 0 });
  const entry = { action: 'invoice.abandoned', subject: invoice.id };
  expect(await service.app.store.db.collection('audit_log').findOne(entry)).toMatchObject({ tenantId: 'installation' });
  expect(await whole()).toEqual({ underWay: 0, isDone: true });
  expect(await Array.fromAsync(findInconsistencies(service.app.store.db))).toEqual([]);
});
