import type { Collection, Db } from 'mongodb';
import type { BegunHour, SettledCounts, SettledDay } from '../domain/invoice/count-invoices.ts';
import type { StatusCounts } from '../domain/invoice/invoice-queries.ts';
import type { Environment } from '../domain/tenant/tenant.ts';

/** How long a day's counts are kept after they were written, seconds: longer than the days that can be requested. */
export const COUNTS_SECONDS = 40 * 86_400;

interface CountsDocument {
  /** Tenant, environment and date. */
  _id: string;
  whole?: StatusCounts;
  /** By the start of the hour in UNIX milliseconds. */
  hours?: Record<string, StatusCounts>;
  begun?: BegunHour;
  writtenAt: Date;
}

/** The settled counts of invoices in the collection `invoice_counts`, a document for each day of a tenant. */
export function createSettledCounts(db: Db): SettledCounts {
  const stored: Collection<CountsDocument> = db.collection('invoice_counts');
  return {
    async find(tenantId, environment, dates) {
      const found = await stored
        .find({ _id: { $in: dates.map((date) => idOf(tenantId, environment, date)) } })
        .limit(dates.length)
        .toArray();
      return new Map(found.map((document) => [document._id.slice(-'YYYY-MM-DD'.length), dayOf(document)]));
    },
    async keep(tenantId, environment, date, { whole, hours, begun }) {
      const news = [...hours].map(([start, counts]) => [`hours.${start}`, counts] as const);
      await stored.updateOne(
        { _id: idOf(tenantId, environment, date) },
        {
          $set: {
            ...Object.fromEntries(news),
            ...(whole && { whole }),
            ...(begun && { begun }),
            writtenAt: new Date(),
          },
        },
        { upsert: true },
      );
    },
  };
}

function dayOf({ whole, hours, begun }: CountsDocument): SettledDay {
  const known = Object.entries(hours ?? {}).map(([start, counts]) => [Number(start), counts] as const);
  return { whole: whole ?? null, hours: new Map(known), begun: begun ?? null };
}

function idOf(tenantId: string, environment: Environment, date: string): string {
  return `${tenantId} ${environment} ${date}`;
}
