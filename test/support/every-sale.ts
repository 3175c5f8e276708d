import type { PricedLine } from '../../src/domain/invoice/line-amounts.ts';
import { totalsOf } from '../../src/domain/invoice/totals.ts';
import { ORDINARY_ICE } from './chaos.ts';

const COMPANY = { ice: ORDINARY_ICE, name: 'Atlas Distribution SARL', address: 'Casablanca' };
const PERSON = { kind: 'person', name: 'Amina Alaoui', address: '3, rue des Lilas, Rabat' };
const ABROAD = { kind: 'foreign', name: 'Müller GmbH', address: 'Berlin', country: 'DE', taxNumber: 'DE123456789' };
const HOURS = { description: 'Conseil', quantity: 1.5, unit: 'HUR', unitPrice: 40_000, taxRate: 20 } as const;
const WITH_TAX = { description: 'Livre', quantity: 3, unitPrice: 49_999, taxIncluded: true, taxRate: 10 } as const;
const EXEMPT = { description: 'Machine', quantity: 1, unitPrice: 5_000_000, taxRate: 0 } as const;
const certificate = { number: 'AT-118/2026', date: '2026-10-05' };

interface Sale extends Readonly<Record<string, unknown>> {
  readonly lines: readonly (PricedLine & Readonly<Record<string, unknown>>)[];
}

/** Sales that REST cannot express: inputs of GraphQL without their amount. */
const SALES: readonly Sale[] = [
  { customer: PERSON, lines: [{ ...HOURS, discount: { percent: 10, reason: 'Fidélité' } }] },
  { customer: PERSON, lines: [WITH_TAX, { ...WITH_TAX, taxRate: 20, discount: { amount: 7 } }] },
  { customer: ABROAD, lines: [{ ...EXEMPT, exemption: { code: 'export' } }], references: { order: 'PO-118' } },
  { customer: COMPANY, lines: [{ ...EXEMPT, exemption: { code: 'suspension', certificate } }, HOURS] },
  { customer: COMPANY, lines: Array.from({ length: 1000 }, (_, nth) => ({ ...WITH_TAX, unitPrice: 101 + nth })) },
];

/** Returns the n-th sale as an input of `createInvoice`. The kinds of sales alternate. */
export function sale(nth: number): object {
  const input = SALES[nth % SALES.length] as Sale;
  return { ...input, currency: 'MAD', amount: totalsOf(input)?.gross };
}
