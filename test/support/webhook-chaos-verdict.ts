import { expect } from 'vitest';
import { TAKERS, type WebhookChaosOutcome } from './webhook-chaos.ts';

/** The types of events in order, with their names in GraphQL. */
const ORDER = ['invoice_signing', 'invoice_transmitted', 'invoice_accepted'];

/** @param most maximum number of duplicates */
export function expectEveryDelivery(outcome: WebhookChaosOutcome, invoices: number, most: number): void {
  const { events, taken, attempted, duplicates, complaints, faults } = outcome;
  expect(events.size).toBe(invoices * 3);
  for (const name of TAKERS) expect(new Set(taken.get(name)), name).toEqual(new Set(events.keys()));
  for (const [name, ids] of attempted) expect(ids, name).toEqual(new Set(events.keys()));
  const ordered = Map.groupBy(taken.get('good') ?? [], (id) => events.get(id)?.invoiceId);
  expect(ordered.size).toBe(invoices);
  for (const ids of ordered.values()) expect(ids.map((id) => events.get(id)?.type)).toEqual(ORDER);
  console.log(`${events.size} events to ${attempted.size} receivers, ${duplicates} duplicates`);
  expect(duplicates).toBeLessThanOrEqual(most);
  expect(complaints).toEqual([]);
  expect(faults).toEqual([]);
}
