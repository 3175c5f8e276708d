import { describe, expect, it } from 'vitest';
import { ownersOf } from '../../src/app/webhooks.ts';
import { newId } from '../../src/domain/ids.ts';
import { isFailing, type WebhookEndpoint } from '../../src/domain/webhook/endpoint.ts';
import type { Store } from '../../src/storage/connect.ts';
import { createTenantRepository } from '../../src/storage/tenants.ts';
import { openedForDeliveries } from '../support/webhook-store.ts';
import {
  clockAt,
  HOUR,
  MINUTE,
  receiverThat,
  storedEndpoint,
  storedInvoice,
  storedInvoices,
  turn,
  webhookWorker,
} from '../support/webhooks.ts';

let store: Store;

openedForDeliveries((opened) => {
  store = opened;
});

describe('an endpoint whose attempts fail', () => {
  async function failing(status: () => number) {
    const clock = clockAt();
    const worker = webhookWorker(store, receiverThat(status).send, clock.read);
    const tenantId = newId('ten');
    const profile = { email: 'compta@example.com' };
    await createTenantRepository(store.db).insert({ id: tenantId, name: 'Atlas', profile, createdAt: clock.read() });
    const endpoint = await storedEndpoint(store, { tenantId });
    const event = async (count = 1) => {
      for (const invoice of await storedInvoices(store, tenantId, count)) worker.publisher.publish(invoice);
      await turn(worker);
    };
    const seen = () => worker.endpoints.find(tenantId, 'test', endpoint.id);
    const notices = () => worker.notices.filter(({ endpointId }) => endpointId === endpoint.id);
    /** Judges what is due, by all attempts so far. */
    const judge = async () => {
      await worker.statistics.stop(1000);
      await worker.health.sweep();
    };
    return { clock, worker, endpoint, event, seen, notices, judge };
  }

  it('counts as failing after half an hour; it stays active', async () => {
    const { clock, worker, endpoint, event, seen } = await failing(() => 500);
    const since = clock.read();
    await event();
    await expect.poll(seen).toMatchObject({ failingSince: since, active: true });
    const listed = async () => (await worker.endpoints.failing(clock.read(), 1000)).map(({ id }) => id);
    clock.move(30 * MINUTE - 1000);
    expect([isFailing((await seen()) as WebhookEndpoint, clock.read()), await listed()]).not.toContain(true);
    expect(await listed()).not.toContain(endpoint.id);
    clock.move(1000);
    expect(isFailing((await seen()) as WebhookEndpoint, clock.read())).toBe(true);
    expect(await listed()).toContain(endpoint.id);
    await worker.health.sweep();
    expect(await seen()).toMatchObject({ failingSince: since, active: true });
  });

  it('is told to owners with a confirmed address, to no other member', async () => {
    const membersOf = async () =>
      (['owner', 'developer', 'viewer', 'owner', 'owner'] as const).map((role, n) => ({
        role,
        person: { id: `per_${n}`, name: role, email: `${role}${n}@example.com` },
        isConfirmed: n < 4,
      }));
    const owners = ownersOf({ membersOf });
    expect(await owners('ten_1')).toEqual(['owner0@example.com', 'owner3@example.com']);
  });

  it('is told to each owner at 50, 90 and 100 % of the attempts of a day, each once, and anew after it recovered', async () => {
    let status = 200;
    const counted = { failed: 0, attempts: 0 };
    const { clock, worker, endpoint, event, notices, judge } = await failing(() => {
      counted.attempts++;
      if (status !== 200) counted.failed++;
      return status;
    });
    worker.owners.push('amina@example.com', 'badr@example.com');
    const shares = () => notices().map(({ share, to }) => `${share} ${to}`);
    for (let i = 0; i < 4; i++) await event();
    clock.move(HOUR);
    status = 500;
    for (let i = 0; i < 3; i++) await event();
    clock.move(30 * MINUTE);
    await judge();
    expect([counted, shares()]).toEqual([{ failed: 3, attempts: 7 }, []]);
    await event();
    clock.move(30 * MINUTE);
    await judge();
    await judge();
    expect(shares()).toEqual(['50 amina@example.com', '50 badr@example.com']);
    expect(notices()[0]).toMatchObject({ tenantName: 'Atlas', environment: 'test', url: endpoint.url });
    // Beside the next event, the first three were tried again.
    expect(notices()[0]).toMatchObject(counted);
    // The successes leave the day.
    clock.move(22 * HOUR + 30 * MINUTE);
    await judge();
    expect(shares().slice(2)).toEqual(['100 amina@example.com', '100 badr@example.com']);
    clock.move(HOUR);
    [status, counted.failed, counted.attempts] = [200, 0, 0];
    await event();
    clock.move(30 * MINUTE);
    await judge();
    expect(shares()).toHaveLength(4);
    status = 500;
    await event(9 * counted.attempts);
    expect(counted.failed).toBe(0.9 * counted.attempts);
    clock.move(30 * MINUTE);
    await judge();
    expect(shares().slice(4)).toEqual(['90 amina@example.com', '90 badr@example.com']);
  });

  it('is told to the address of the profile where nobody has an account, and not for one or two failures', async () => {
    const { clock, event, notices, judge } = await failing(() => 500);
    await event();
    await event();
    clock.move(30 * MINUTE);
    await judge();
    expect(notices()).toEqual([]);
    await event();
    clock.move(30 * MINUTE);
    await judge();
    expect(notices().map(({ to, share }) => [to, share])).toEqual([['compta@example.com', 100]]);
  });

  it('is not marked if another process has delivered to it meanwhile', async () => {
    const { clock, worker, endpoint, event, seen } = await failing(() => 200);
    await event();
    // This process fails once and then has nothing more to send.
    const other = webhookWorker(store, receiverThat(() => 500).send, clock.read);
    other.publisher.publish(await storedInvoice(store, endpoint.tenantId));
    await turn(other);
    await expect.poll(seen).toMatchObject({ failingSince: clock.read() });
    clock.move(10 * MINUTE);
    worker.publisher.publish(await storedInvoice(store, endpoint.tenantId));
    await turn(worker);
    await expect.poll(seen).toMatchObject({ failingSince: null });
  });

  it('has no failure since its last success', async () => {
    let status = 500;
    const { clock, event, seen } = await failing(() => status);
    await event();
    await expect.poll(seen).toMatchObject({ failingSince: expect.any(Date) });
    status = 200;
    await event();
    await expect.poll(seen).toMatchObject({ failingSince: null });
    status = 500;
    clock.move(HOUR);
    await event();
    await expect.poll(seen).toMatchObject({ failingSince: clock.read() });
  });
});
