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

test('a queued job starts by a change event, long before the next poll', async () => {
  const started: number[] = [];
  agenda.define('work', async (job: { attrs: { data: { n: number } } }) => void started.push(job.attrs.data.n));
  await agenda.start();
  // connect() of the channel returns before its change stream is open on the server. Until then no notification
  // arrives.
  let n = 0;
  const isOpen = async () => {
    await agenda.now('work', { n: n++ });
    return started.length > 0;
  };
  await expect.poll(isOpen, { interval: 300 }).toBe(true);
  for (const last = n + 10; n < last; n++) {
    await agenda.now('work', { n });
    await expect.poll(() => started).toContain(n);
  }
}, 120_000);

test('a scheduled job does not start before its time, and is listed with the others', async () => {
  agenda.define('later', async () => {});
  await agenda.schedule(new Date(Date.now() + 3_600_000), 'later', { n: 1 });
  const { jobs, total } = await agenda.queryJobs({ name: 'later' });
  expect(total).toBe(1);
  expect(jobs[0]?.lastRunAt ?? null).toBeNull();
  expect(await agenda.cancel({ name: 'later' })).toBe(1);
});
