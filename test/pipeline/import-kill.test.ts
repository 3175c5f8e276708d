import { expect, test } from 'vitest';
import { chaosSeed } from '../support/chaos.ts';
import { runImportKills, textsOf } from '../support/import-kills.ts';

// The long form, with 5,000 invoices and ten kills, is `test/long/imports.test.ts`.
test('kill -9 while a file is imported issues each invoice once, in the order of the file', async ({ signal }) => {
  const outcome = await runImportKills({
    seed: chaosSeed(),
    invoices: 64,
    lines: 2,
    kills: 2,
    patienceMs: 60_000,
    signal,
  });

  console.log(`killed with ${outcome.issuedAtKills.join(', ')} of 64 issued`);
  expect(outcome.texts).toEqual(textsOf(64));
  expect(outcome.byNumber).toEqual(textsOf(64));
  expect(outcome.counts).toMatchObject({ invoices: 64, issued: 64, ready: 0, refused: 0, accepted: 64 });
  expect(outcome.complaints).toEqual([]);
}, 180_000);
