import { afterAll, beforeAll, expect, test } from 'vitest';
import { ATTEMPTS } from '../../src/domain/person/limits.ts';
import { Browser, signedIn } from '../support/person.ts';
import { startService, type TestService } from '../support/service.ts';

const GUESSES = 10_000;
const AT_ONCE = 20;

let service: TestService;
beforeAll(async () => {
  service = await startService({ RATE_LIMIT_ADDRESS: '1000000', TRUST_PROXY: '1', PUBLIC_URL: 'https://fatoura.test' });
});
afterAll(() => service.close());

/** Sends many guesses, some at once. @returns how many had which status, and the longest answer, milliseconds */
async function attack(guess: (nth: number) => { readonly email: string; readonly address: string }) {
  const statuses: Record<number, number> = {};
  let longest = 0;
  let next = 0;
  const guesser = async () => {
    while (next < GUESSES) {
      const { email, address } = guess(next++);
      const begun = performance.now();
      const answer = await new Browser(service.url).post(
        '/auth/sign-in',
        { email, password: `guess number ${next}` },
        { 'X-Forwarded-For': address },
      );
      longest = Math.max(longest, performance.now() - begun);
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, guesser));
  return { statuses, longest };
}

const addressOf = (nth: number) => `10.${(nth >> 16) & 255}.${(nth >> 8) & 255}.${nth & 255}`;

test('10,000 guesses at an account, each from another address: the limit of the account holds', async () => {
  const { email, password, browser } = await signedIn(service);
  const { statuses } = await attack((nth) => ({ email, address: addressOf(nth) }));
  // One attempt made the account.
  expect(statuses[401]).toBe(ATTEMPTS.account - 1);
  expect(statuses[429]).toBe(GUESSES - ATTEMPTS.account + 1);
  // Who is signed in stays so; the right password waits like every other.
  expect((await browser.session()).status).toBe(200);
  const late = await new Browser(service.url).post(
    '/auth/sign-in',
    { email, password },
    { 'X-Forwarded-For': '10.9.9.9' },
  );
  expect(late.status).toBe(429);
  // Others sign in.
  const other = await signedIn(service);
  const again = await new Browser(service.url).post(
    '/auth/sign-in',
    { email: other.email, password: other.password },
    { 'X-Forwarded-For': '10.9.9.10' },
  );
  expect(again.status).toBe(200);
});

test('10,000 guesses at 10,000 accounts from one address: the limit of the address holds', async () => {
  const { statuses } = await attack((nth) => ({ email: `somebody${nth}@example.com`, address: '192.0.2.200' }));
  // More at once than may wait for their turn are refused before they are examined, and count.
  expect((statuses[401] ?? 0) + (statuses[429] ?? 0)).toBe(GUESSES);
  expect(statuses[401]).toBeLessThanOrEqual(ATTEMPTS.address);
  expect(statuses[401]).toBeGreaterThan(0);
});
