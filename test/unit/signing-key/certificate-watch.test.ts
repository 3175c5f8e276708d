import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { expiryFinding } from '../../../src/adapters/signing-key/certificate-findings.ts';
import { watchCertificates } from '../../../src/app/certificate-watch.ts';
import { ecKey, identityOf } from '../xades/identities.ts';

const DAY = 86_400_000;
const START = Date.UTC(2030, 0, 1);

let stop: () => void;
beforeEach(() => void vi.useFakeTimers({ now: START }));
afterEach(() => {
  stop();
  vi.useRealTimers();
});

function certificateUntil(days: number) {
  const to = new Date(START + days * DAY);
  const [certificate] = identityOf(ecKey('P-256'), { from: new Date(START - DAY), to }).certificateChain;
  if (certificate === undefined) throw new Error('no certificate');
  return certificate;
}

it('the end of a certificate is logged once 30, 7 and 1 days before, and from then on at each look, until a new one is there', async () => {
  let certificate = certificateUntil(40.5);
  const lines: string[] = [];
  const note = (level: string) => (_fields: object, text: string) =>
    void lines.push(
      `day ${Math.round((Date.now() - START) / DAY)}, ${level}: ${text.replace(/ on \d.*?(?=,|\.)/, '')}`,
    );
  const look = (now: Date) => {
    const finding = expiryFinding('It', certificate, now);
    return finding === null ? [] : [{ fields: {}, findings: [finding] }];
  };
  stop = watchCertificates(look, { warn: note('warn'), error: note('error') } as never);
  await vi.advanceTimersByTimeAsync(40.4 * DAY);
  expect(lines).toEqual([
    'day 11, warn: It expires, in 29 days. Have a new one issued.',
    'day 34, warn: It expires, in 6 days. Have a new one issued.',
    'day 40, warn: It expires, in 0 days. Have a new one issued.',
  ]);
  await vi.advanceTimersByTimeAsync(DAY);
  // At each look, every 6 hours.
  expect(lines.slice(3).map((line) => line.replace(/^day \d+, /, ''))).toEqual(
    new Array(3).fill('error: It expired. Install a new one; it is of no use until then.'),
  );
  certificate = certificateUntil(400);
  await vi.advanceTimersByTimeAsync(10 * DAY);
  expect(lines).toHaveLength(6);
});
