import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

// docs/api/contract.md against the generated openapi.json: the page can neither lack a member nor keep one that is gone.

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = read('docs/api/contract.md');
const { schemas } = JSON.parse(read('openapi.json')).components;

/** The text under a heading, up to the next one. */
function section(heading: string): string {
  const [, text] = page.split(`\n## ${heading}\n`);
  return (text ?? '').split(/^## /m)[0] ?? '';
}

/** What stands as code in the first column of a section's table. */
function namesIn(heading: string): string[] {
  const cells = [...section(heading).matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell = '']) => cell);
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
}

it.each([
  ['Invoice', ['CreatedInvoice']],
  ['Customer', ['Customer', 'CustomerInput']],
  ['Line', ['Line', 'LineInput']],
  ['Webhook endpoint', ['CreatedWebhookEndpoint']],
  ['Event', ['InvoiceEvent']],
])('%s has the fields of the schema', (heading, names) => {
  const fields = new Set(names.flatMap((name) => Object.keys(schemas[name].properties)));
  expect(namesIn(heading).toSorted()).toEqual([...fields].toSorted());
});

it.each([
  ['States and transitions', 'InvoiceStatus'],
  ['Errors', 'ErrorCode'],
])('%s has the members of the schema', (heading, name) => {
  const { enum: closed, 'x-extensible-enum': known = closed } = schemas[name];
  expect(namesIn(heading).toSorted()).toEqual(known.toSorted());
});

it('Events has the event types, Line the rates of VAT', () => {
  expect([...section('Events').matchAll(/`(invoice\.\w+)`/g)].map(([, type]) => type)).toEqual(schemas.EventType.enum);
  expect(section('Line')).toContain(schemas.TaxRate.enum.join(', ').replace(/, (\d+)$/, ' or $1'));
});
