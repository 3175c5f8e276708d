import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

// docs/api/contract.md against the generated openapi.json: the page can neither lack a member nor keep one that is gone.

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = read('docs/api/contract.md');
const { schemas } = JSON.parse(read('openapi.json')).components;

/** The text under a heading, up to the next one of its level or a higher one. */
function section(heading: string): string {
  const [before = '', text = ''] = page.split(new RegExp(`^#{2,3} ${heading}\n`, 'm'));
  const isBelow = page.slice(before.length).startsWith('### ');
  return text.split(isBelow ? /^#{2,3} /m : /^## /m)[0] ?? '';
}

/** The members of schemas: those of the contract, or those beyond it. */
function membersOf(names: readonly string[], beyond: boolean): string[] {
  const members = names.flatMap((name) => Object.entries<{ 'x-extension'?: true }>(schemas[name].properties));
  const found = members.filter(([, schema]) => (schema['x-extension'] === true) === beyond);
  return [...new Set(found.map(([name]) => name))].toSorted();
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
  expect(namesIn(heading).toSorted()).toEqual(membersOf(names, false));
});

it('Further members of an invoice has the members that only `include` adds', () => {
  const names = [...section('Further members of an invoice').matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  // These add to members of the contract.
  const within = Object.entries({ lines: 'Line', customer: 'Customer' }).flatMap(([name, schema]) =>
    membersOf([schema], true).length > 0 ? [name] : [],
  );
  expect(names.toSorted()).toEqual([...membersOf(['Invoice', 'CreatedInvoice'], true), ...within].toSorted());
  expect(names).toHaveLength(7);
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
