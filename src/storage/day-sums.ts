import { Decimal128, type UpdateFilter } from 'mongodb';
import type { Kind } from '../domain/invoice/kinds.ts';
import { KIND_NAMES } from '../domain/invoice/kinds.ts';
import { INVOICE_STATUSES, type InvoiceStatus } from '../domain/invoice/lifecycle.ts';
import type { DaySums, StatusSums, Sums } from '../domain/invoice/periods/day-sums.ts';
import { TAX_RATES } from '../domain/invoice/tax-rate.ts';
import type { Owner } from '../domain/tenant/tenant.ts';

/** The collection with a document for each day on which a tenant issued something in an environment. */
export const DAY_SUMS_COLLECTION = 'day_sums';

/**
 * The sums of a day. Fields to which nothing was ever added are absent. Amounts are decimals, whose 34 digits hold
 * every sum: two of the largest amounts are beyond a double, and a thousand of them beyond 64 bits.
 */
export interface DaySumsDocument extends Partial<Record<Kind, Partial<Record<InvoiceStatus, StoredSums>>>> {
  /** See {@link dayKey}. */
  _id: string;
}

interface StoredSums {
  readonly count?: number;
  readonly amount?: Decimal128;
  readonly withheld?: Decimal128;
  readonly rates?: Readonly<Record<string, { readonly net?: Decimal128; readonly tax?: Decimal128 }>>;
}

/** Returns the `_id` of a day. The days of an owner are neighbours, in their order. @param date `YYYY-MM-DD` */
export function dayKey({ tenantId, environment }: Owner, date: string): string {
  return `${tenantId} ${environment} ${date}`;
}

/** Returns the update that adds these sums to a day. */
export function additionOf(sums: readonly StatusSums[]): UpdateFilter<DaySumsDocument> {
  const fields = sums.flatMap(({ kind, status, count, amount, withheld, rates }) => {
    const path = `${kind}.${status}`;
    const amounts = [
      [`${path}.amount`, amount] as const,
      [`${path}.withheld`, withheld] as const,
      ...[...rates].flatMap(([rate, { net, tax }]) => [
        [`${path}.rates.${rate}.net`, net] as const,
        [`${path}.rates.${rate}.tax`, tax] as const,
      ]),
    ];
    const changed = amounts.filter(([, value]) => value !== 0n);
    return [
      ...(count === 0 ? [] : [[`${path}.count`, count] as const]),
      ...changed.map(([name, value]) => [name, Decimal128.fromString(value.toString())] as const),
    ];
  });
  return { $inc: Object.fromEntries(fields) };
}

/** Returns the sums of a stored day. Leaves out sums without documents. */
export function daySumsOf(stored: DaySumsDocument): DaySums {
  const sums = KIND_NAMES.flatMap((kind) =>
    INVOICE_STATUSES.map((status) => ({ kind, status, ...sumsOf(stored[kind]?.[status] ?? {}) })),
  );
  return { date: stored._id.slice(-'YYYY-MM-DD'.length), sums: sums.filter(({ count }) => count !== 0) };
}

function sumsOf({ count = 0, amount, withheld, rates = {} }: StoredSums): Sums {
  const ofRates = TAX_RATES.flatMap((rate) => {
    const { net, tax } = rates[rate] ?? {};
    return net || tax ? [[rate, { net: bigintOf(net), tax: bigintOf(tax) }] as const] : [];
  });
  return { count, amount: bigintOf(amount), withheld: bigintOf(withheld), rates: new Map(ofRates) };
}

function bigintOf(value: Decimal128 | undefined): bigint {
  return value === undefined ? 0n : BigInt(value.toString());
}
