import { expect, test } from 'vitest';
import { chaosSeed, runChaos } from '../support/chaos.ts';
import { brokenPromises, takenUpAfter } from '../support/chaos-verdict.ts';
import { startMailServer } from '../support/mail-server.ts';

test('200 creations under kill -9, with their PDFs and mails: nothing is lost, doubled or stuck', async ({
  signal,
}) => {
  // Slow enough to be killed over.
  const mailServer = await startMailServer({ delayMs: 100 });
  const outcome = await runChaos({
    seed: chaosSeed(),
    signal,
    creations: 200,
    kills: 15,
    clients: 4,
    email: 'client@example.com',
    environment: {
      LOG_LEVEL: 'error',
      // Mails have the address, and each start listens on another port.
      PUBLIC_URL: 'https://factures.example.net',
      SMTP_URL: mailServer.url,
      MAIL_FROM: 'factures@example.net',
      TEST_MAIL_ALLOW: '@example.com',
    },
    complete: true,
    patienceMs: 120_000,
  }).finally(() => mailServer.close());

  const waits = takenUpAfter(outcome);
  const accepted = outcome.invoices.filter(({ status }) => status === 'accepted').map(({ _id }) => _id);
  const mails = new Map<string, string[]>();
  for (const { message } of mailServer.mails) {
    const id = /^Message-ID: <(.*)@example\.net>\r$/m.exec(message)?.[1] ?? '';
    mails.set(id, [...(mails.get(id) ?? []), message]);
  }
  const again = mailServer.mails.length - mails.size;
  console.log(
    `${outcome.kills} kills (${outcome.killsOfStarts} of a start), ${outcome.broken} broken requests; ` +
      `${waits.length} ordinary invoices taken up, at the median after ${waits[waits.length >> 1]} ms, the last after ${waits.at(-1)} ms; ` +
      `${accepted.length} mails, of which ${again} came again`,
  );
  expect(brokenPromises(outcome)).toEqual([]);
  expect(outcome.created.size).toBe(200);
  expect(outcome.kills).toBeGreaterThanOrEqual(15);
  expect(waits.length).toBeGreaterThan(0);
  expect(waits.at(-1)).toBeLessThan(10_000);
  // One Message-ID an invoice; what came again, for a kill while it was handed over, is the same mail.
  expect([...mails.keys()].sort()).toEqual(accepted.sort());
  for (const copies of mails.values()) expect(new Set(copies).size).toBe(1);
});

test('100 concurrent creations of one tenant under kill -9: legal numbers without a gap or a double', async ({
  signal,
}) => {
  const outcome = await runChaos({
    seed: chaosSeed(),
    signal,
    creations: 100,
    kills: 6,
    clients: 100,
    email: null,
    environment: { CHROMIUM_PATH: '/nonexistent', LOG_LEVEL: 'error' },
    complete: false,
    patienceMs: 120_000,
  });

  expect(brokenPromises(outcome)).toEqual([]);
  expect(outcome.kills).toBeGreaterThanOrEqual(6);
  const serials = outcome.invoices.map(({ series }) => series?.serial).sort((a = 0, b = 0) => a - b);
  expect(serials).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
});
