import type { UseCase } from '../use-case.ts';
import type { Invoice } from './invoice.ts';

/** The outcomes that certain customer ICEs trigger in the test environment (docs/decisions/0029). */
export const SCENARIOS = {
  'unknown-ice': 'Rejected: the customer’s ICE is unknown.',
  duplicate: 'Rejected: duplicate invoice.',
  'slow-decision': 'Accepted, 10 s after it was transmitted.',
  'unavailable-twice': 'The authority is unavailable twice; then accepted.',
  unavailable: 'The authority stays unavailable: rejected after 5 attempts.',
  'lost-reply': 'The authority’s reply is lost; asked again, it has accepted.',
  'signing-fails': 'Signing fails: rejected.',
  'slow-receipt': 'Accepted, but the receipt takes 60 s.',
} as const;
export type Scenario = keyof typeof SCENARIOS;

export const MAGIC_ICES: Readonly<Record<string, Scenario>> = {
  '999000000000102': 'unknown-ice',
  '999000000000296': 'duplicate',
  '999000000000393': 'slow-decision',
  '999000000000490': 'unavailable-twice',
  '999000000000587': 'unavailable',
  '999000000000684': 'lost-reply',
  '999000000000781': 'signing-fails',
  '999000000000878': 'slow-receipt',
};

/** Returns the magic ICEs with their scenarios. */
export const testScenarios = {
  scope: 'read',
  run: (_needs: object): readonly { readonly ice: string; readonly scenario: Scenario }[] =>
    Object.entries(MAGIC_ICES).map(([ice, scenario]) => ({ ice, scenario })),
} as const satisfies UseCase;

/** Returns the scenario of a test invoice; null for any other ICE and for live invoices. */
export function scenarioOf(invoice: Pick<Invoice, 'environment' | 'customer'>): Scenario | null {
  return invoice.environment === 'test' ? magicOf(invoice.customer.ice) : null;
}

/** Returns the scenario of an ICE; null for any other ICE, and for a customer without one. */
export function magicOf(ice: string | null): Scenario | null {
  return ice !== null && Object.hasOwn(MAGIC_ICES, ice) ? (MAGIC_ICES[ice] ?? null) : null;
}
