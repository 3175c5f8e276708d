import { expect, it } from 'vitest';
import { freshDbName, startTestMongo } from '../support/mongodb.ts';
import { signedIn } from '../support/person.ts';
import { startService, withDatabase } from '../support/service.ts';

it('a process with ROLE=api alone says that no worker runs: to balancers, to operators', async () => {
  const mongo = await startTestMongo();
  const service = await startService({
    ROLE: 'api',
    MONGODB_URL: withDatabase(mongo.uri, freshDbName('without_worker')),
    MASTER_KEY: '0123456789abcdef'.repeat(4),
  });
  try {
    const ready = await fetch(`${service.url}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([
      200,
      { status: 'ready', warnings: [expect.stringMatching(/^no worker runs: invoices, webhooks and mails wait/)] },
    ]);
    const { browser } = await signedIn(service, { isOperator: true });
    expect((await browser.request('GET', '/ops/api/survey')).body).toMatchObject({ workers: 0 });
  } finally {
    await service.app.store.db.dropDatabase();
    await service.close();
    await mongo.close();
  }
});
