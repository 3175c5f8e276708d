import type { Agenda } from 'agenda';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { orderAt } from '../../src/domain/order-key.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { RESEND_USE_CASES, type ResendNeeds } from '../../src/domain/webhook/resend-events.ts';
import { JOBS_COLLECTION } from '../../src/jobs/job-documents.ts';
import { createWebhookJobs } from '../../src/jobs/webhook-jobs.ts';
import type { Store } from '../../src/storage/connect.ts';
import { createDeliveryLedger } from '../../src/storage/webhook-deliveries.ts';
import { createWebhookEndpointRepository } from '../../src/storage/webhook-endpoints.ts';
import { queryPlans } from '../support/query-plans.ts';
import { openTestStore } from '../support/store.ts';

let store: Store;
beforeAll(async () => {
  store = await openTestStore('webhook-backlogs', true);
});
afterAll(() => store.close());

const owner = (tenantId: string) => ({ tenantId, environment: 'test' }) as const;

/** Failed deliveries of an endpoint, oldest first. */
async function storeFailed(tenantId: string, endpointId: string, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, n) => ({
    _id: `${newId('evt').replace('evt', 'dlv')}_x`,
    ...owner(tenantId),
    endpointId,
    eventId: newId('evt'),
    invoiceId: newId('inv'),
    eventType: 'invoice.accepted',
    order: `${orderAt(n)}-`,
    attempts: [],
    state: 'failed',
    createdAt: new Date(),
    storedAt: new Date(),
  }));
  await store.db.collection<{ _id: string }>('webhook_deliveries').insertMany(rows);
}

describe('the deliveries of one endpoint', () => {
  it('are listed without those of the tenant’s other endpoints', async () => {
    const [tenantId, quiet, busy] = [newId('ten'), newId('we'), newId('we')];
    await storeFailed(tenantId, quiet, 30);
    await storeFailed(tenantId, busy, 300);
    const deliveries = createDeliveryLedger(store.db);
    const query = { ...owner(tenantId), endpointId: quiet, from: null, until: null, limit: 5 };
    const after = { direction: 'after', order: orderAt(20) } as const;
    const plans = queryPlans(store);
    for (const state of ['failed', 'delivered', null] as const) {
      await plans.expectIndexed(() => deliveries.keys({ ...query, state, cursor: null }), 12);
      await plans.expectIndexed(
        async () => (await deliveries.page({ ...query, state, cursor: after })).hasOthers(),
        12,
      );
    }
    expect((await deliveries.page({ ...query, state: null, cursor: null })).rows).toHaveLength(5);
  });

  it('are sent again until the limit of a call, however many a reply of the server holds', async () => {
    const [tenantId, endpointId] = [newId('ten'), newId('we')];
    await storeFailed(tenantId, endpointId, 2100);
    const needs = {
      deliveries: createDeliveryLedger(store.db),
      endpoints: { find: async () => ({ id: endpointId, active: true }) },
    } as unknown as ResendNeeds;
    const by = { kind: 'secret', environment: 'test', tenant: { id: tenantId } as Tenant } as never;
    const all = { endpointId, state: 'failed', type: null, createdAfter: null, createdBefore: null } as const;
    expect(await RESEND_USE_CASES.webhookResendCount.run(needs, { by }, all)).toEqual({ count: 2100, more: false });
  });
});

it('the sweep finds each endpoint again after a pause, and looks at its whole backlog less often', async () => {
  const deliveries = createDeliveryLedger(store.db);
  const [tenantId, hanging, other] = [newId('ten'), newId('we'), newId('we')];
  await storeFailed(tenantId, hanging, 300);
  await storeFailed(tenantId, other, 2);
  const rows = store.db.collection<{ _id: string }>('webhook_deliveries');
  const start = Date.now();
  const work = { token: null, tries: 0, retry: false, readyAt: new Date(start), sweepAt: new Date(start) };
  await rows.updateMany({ tenantId }, { $set: { state: 'pending', work } });
  // An attempt whose worker died: what it had is due for others at once, wherever it stands.
  const lost = await rows.findOne({ endpointId: hanging }, { sort: { order: -1 } });
  const dead = { _id: lost?._id ?? '' };
  await rows.updateOne(dead, { $set: { 'work.token': 'lost' }, $unset: { 'work.readyAt': '' } });
  const pauseMs = 15_000;
  /** The endpoints and the deliveries that a sweep at this time looks at. */
  async function sweepAt(ms: number) {
    const now = new Date(start + ms);
    const looked = await rows.countDocuments({ 'work.sweepAt': { $lte: now } });
    const endpointIds = new Set<string>();
    for (let more = true; more; ) {
      const found = await deliveries.sweep(100, pauseMs, now);
      for (const id of found.endpointIds) endpointIds.add(id);
      more = found.more;
    }
    return { looked, endpointIds };
  }
  const both = new Set([hanging, other]);
  expect(await sweepAt(0)).toEqual({ looked: 302, endpointIds: both });
  expect(await rows.findOne(dead)).toMatchObject({ work: { token: null, readyAt: new Date(start) } });
  let looked = 0;
  for (let pause = 1; pause < 10; pause++) {
    const sweep = await sweepAt(pause * pauseMs);
    expect(sweep.endpointIds).toEqual(both);
    looked += sweep.looked;
  }
  // At first those of four pages, then those of one.
  expect(looked).toBeLessThanOrEqual(4 * 4 + 2 + 8 * (4 + 2));
  expect((await sweepAt(10 * pauseMs)).looked).toBeGreaterThan(280);
  await rows.deleteMany({ tenantId });
});

it('an endpoint that is disabled does not fail any more, and the search for failing ones passes it over', async () => {
  const endpoints = createWebhookEndpointRepository(store.db);
  const tenantId = newId('ten');
  const since = new Date(Date.now() - 86_400_000);
  const rows = Array.from({ length: 20 }, (_, slot) => ({ _id: newId('we'), ...owner(tenantId), slot, active: true }));
  await store.db
    .collection<{ _id: string }>('webhook_endpoints')
    .insertMany(rows.map((row) => ({ ...row, secrets: [] })));
  for (const { _id } of rows) await endpoints.noteFailure(_id, since, since);
  for (const { _id } of rows.slice(1))
    expect(await endpoints.update(tenantId, 'test', _id, { active: false })).toMatchObject({
      active: false,
      failingSince: null,
      timesDisabled: 1,
    });
  // An attempt that was under way then fails now.
  const [, interrupted = { _id: '' }] = rows;
  for (const { _id } of rows.slice(1)) await endpoints.noteFailure(_id, since, since);
  await queryPlans(store).expectIndexed(() => endpoints.takeToJudge(new Date(), new Date(), 20), 1);
  await queryPlans(store).expectIndexed(() => endpoints.failing(new Date(), 20), 1);
  await endpoints.update(tenantId, 'test', interrupted._id, { active: true });
  expect(await endpoints.find(tenantId, 'test', interrupted._id)).toMatchObject({ failingSince: null });
  expect(await endpoints.find(tenantId, 'test', rows[0]?._id ?? '')).toMatchObject({
    failingSince: since,
  });
});

it('in a worker, what is due now has no job: the worker is told at once, until it stops', async () => {
  const scheduled: Date[] = [];
  const schedule = async (at: Date) => void scheduled.push(at);
  const agenda = { attrs: { name: 'w' }, schedule, define: () => undefined } as unknown as Agenda;
  const { queue, start, stop } = createWebhookJobs(agenda, store.db, () => undefined);
  const woken: string[] = [];
  start({ wake: (endpointId) => void woken.push(endpointId), sweep: async () => {} });
  const now = new Date();
  await queue.wake('we_now', now);
  expect([woken, scheduled]).toEqual([['we_now'], []]);
  const soon = new Date(Date.now() + 900);
  await queue.wake('we_soon', soon);
  await stop();
  await queue.wake('we_later', now);
  expect([woken, scheduled]).toEqual([['we_now'], [soon, now]]);
});

it('the waits of an endpoint that refuses every event share jobs', async () => {
  const scheduled: Date[] = [];
  const agenda = { attrs: { name: 'w' }, schedule: async (at: Date) => void scheduled.push(at) };
  const problems: unknown[] = [];
  const report = (_: string, problem: unknown) => void problems.push(problem);
  const processes = [1, 2].map(() => createWebhookJobs(agenda as unknown as Agenda, store.db, report).queue);
  const [first, second] = [newId('we'), newId('we')];
  const jobs = store.db.collection(JOBS_COLLECTION);
  const wait = 6 * 3_600_000;
  const now = Date.now();
  for (const queue of processes)
    await Promise.all(Array.from({ length: 1000 }, (_, n) => queue.wake(first, new Date(now + wait + n * 10))));
  const found = await jobs.find({ 'data.endpointId': first }).toArray();
  expect(found.length).toBeLessThanOrEqual(2);
  // None of them runs before what it tells of is due.
  const last = Math.max(...found.map(({ nextRunAt }) => nextRunAt.getTime()));
  expect(last).toBeGreaterThanOrEqual(now + wait + 9990);
  expect(last).toBeLessThanOrEqual(now + wait + 9990 + wait / 50);
  expect(found[0]).toMatchObject({ name: 'webhook.deliver', type: 'normal', lockedAt: null, lastModifiedBy: 'w' });

  await processes[0]?.wake(second, new Date(now + wait));
  await processes[0]?.wake(second, new Date(now + 60_000));
  expect(await jobs.countDocuments({ 'data.endpointId': second })).toBe(2);
  await processes[0]?.wake(second, new Date(now));
  expect(scheduled).toEqual([new Date(now)]);
  expect(problems).toEqual([]);
});
