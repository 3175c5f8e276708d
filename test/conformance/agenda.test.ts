import { once } from 'node:events';
import { MongoBackend, MongoChangeStreamNotificationChannel } from '@agendajs/mongo-backend';
import { Agenda } from 'agenda';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';

let mongo: TestMongo;
let client: MongoClient;
let agenda: Agenda;

beforeAll(async () => {
  mongo = await startTestMongo();
  client = await new MongoClient(mongo.uri).connect();
  const db = client.db(freshDbName('agenda'));
  const notificationChannel = new MongoChangeStreamNotificationChannel({ db });
  notificationChannel.on('error', () => {});
  agenda = new Agenda({
    backend: new MongoBackend({ mongo: db }),
    notificationChannel,
    processEvery: '1 hour',
    removeOnComplete: true,
  });
});

afterAll(async () => {
  await agenda.stop();
  await client.close();
  await mongo.close();
});

test('a queued job starts through the change stream, long before the next poll', async () => {
  const starts = new Map<number, (at: number) => void>();
  agenda.define('work', async (job: { attrs: { data: { n: number } } }) =>
    starts.get(job.attrs.data.n)?.(performance.now()),
  );
  await agenda.start();
  // The channel's connect() returns before its stream is open on the server.
  await new Promise((resolve) => setTimeout(resolve, 300));
  const delays: number[] = [];
  for (let n = 0; n < 10; n++) {
    const { promise, resolve } = Promise.withResolvers<number>();
    starts.set(n, resolve);
    const queued = performance.now();
    const finished = once(agenda, 'complete:work');
    await agenda.now('work', { n });
    delays.push((await promise) - queued);
    await finished;
  }
  delays.sort((a, b) => a - b);
  expect(delays[5]).toBeLessThan(250);
});

test('a job that is due later waits for its time, and lists with the others', async () => {
  agenda.define('later', async () => {});
  await agenda.schedule(new Date(Date.now() + 3_600_000), 'later', { n: 1 });
  const { jobs, total } = await agenda.queryJobs({ name: 'later' });
  expect(total).toBe(1);
  expect(jobs[0]?.lastRunAt ?? null).toBeNull();
  expect(await agenda.cancel({ name: 'later' })).toBe(1);
});
