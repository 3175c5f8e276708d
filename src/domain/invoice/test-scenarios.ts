import type { Invoice } from './invoice.ts';

/** The scenarios that magic customer ICEs trigger in the test environment (docs/decisions/0029). */
export type Scenario =
  | 'unknown-ice'
  | 'duplicate'
  | 'slow-decision'
  | 'unavailable-twice'
  | 'unavailable'
  | 'lost-reply'
  | 'signing-fails'
  | 'slow-receipt';

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

/** The scenario of a test invoice; null for any other ICE and for live invoices. */
export function scenarioOf(invoice: Pick<Invoice, 'environment' | 'customer'>): Scenario | null {
  return invoice.environment === 'test' ? (MAGIC_ICES[invoice.customer.ice] ?? null) : null;
}
