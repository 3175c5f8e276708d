import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readSamples } from '../../../src/cli/demo/samples.ts';
import { greeting } from '../../../src/cli/greeting.ts';
import { inputOfRestBody, restInvoiceBody } from '../../../src/domain/invoice/create-invoice-input.ts';
import { MAGIC_ICES } from '../../../src/domain/invoice/test-scenarios.ts';
import { isTolerated, totalsOf } from '../../../src/domain/invoice/totals.ts';
import { exampleRunBy } from '../../support/guide-examples.ts';

const samples = await readSamples();

it.each(samples.map((sample) => [sample.title, sample] as const))('%s is a valid request', (_title, { request }) => {
  const { lines, amount, customer } = inputOfRestBody(restInvoiceBody.parse(request));
  const totals = totalsOf({ lines });
  expect(totals !== null && isTolerated(amount, totals, lines)).toBe(true);
  expect(BigInt(customer.ice ?? 1) % 97n).toBe(0n);
});

it('the samples cover rates, rounding, a rejection and a lost reply', () => {
  const inputs = samples.map(({ request }) => inputOfRestBody(restInvoiceBody.parse(request)));
  const rates = inputs.map(({ lines }) => new Set(lines.map(({ taxRate }) => taxRate)));
  expect(Math.max(...rates.map(({ size }) => size))).toBeGreaterThan(2);
  expect(rates.some((set) => set.has(0))).toBe(true);
  expect(inputs.some(({ lines, amount }) => totalsOf({ lines })?.gross !== amount)).toBe(true);
  const scenarios = inputs.map(({ customer }) => MAGIC_ICES[customer.ice ?? '']);
  expect(scenarios).toContain('unknown-ice');
  expect(scenarios).toContain('lost-reply');
});

it('the README shows a part of a sample, and says how many lines it leaves out', () => {
  const { text } = exampleRunBy('test/unit/cli/samples.test.ts');
  const [comment = ''] = /\/\/ .*/.exec(text) ?? [];
  const shown = JSON.parse(text.replace(comment, ''));
  const request = samples.map((sample) => sample.request).find(({ amount }) => amount === shown.amount);
  const lines = request?.lines as readonly object[];
  expect({ ...request, lines: lines.slice(0, shown.lines.length) }).toMatchObject(shown);
  expect([comment, lines.length - shown.lines.length]).toEqual(['// and three more lines', 3]);
});

it('the ICEs of all examples have a correct check key', () => {
  const demo = { tenantId: 'ten_x', secretKey: 'sk_test_x', publishableKey: 'pk_test_x' };
  const root = new URL('../../../', import.meta.url);
  const texts = ['README.md', 'docs/api/quick-start.md', 'openapi.json', 'scripts/api.http'].map((file) =>
    readFileSync(new URL(file, root), 'utf8'),
  );
  texts.push(greeting('http://127.0.0.1:3000', { operatorPassword: null, invitationUrl: null, demo }));
  const ices = texts.flatMap((text) => text.match(/(?<=ice\W{2,6})\d{15}/g) ?? []);
  expect(ices.length).toBeGreaterThan(3);
  expect(ices.filter((ice) => BigInt(ice) % 97n !== 0n)).toEqual([]);
});
