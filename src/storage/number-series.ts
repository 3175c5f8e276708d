import type { Db } from 'mongodb';
import type { NumberSeries } from '../domain/invoice/number-series.ts';
import { newestSeriesFirst, type SeriesNumber } from '../domain/invoice/series-number.ts';
import { type NumberDocument, partsOfSeriesKey } from './invoice-numbers.ts';

export function createNumberSeries(db: Db): NumberSeries {
  const numbers = db.collection<NumberDocument>('invoice_numbers');
  return {
    async lastNumbers({ tenantId, environment }) {
      const prefix = `${tenantId} ${environment} `;
      const found: SeriesNumber[] = [];
      // Numbers of the client's own series sort behind both kinds of series of the service.
      for (let below = `${prefix}own `; ; ) {
        const last = await numbers
          .find({ _id: { $gte: prefix, $lt: below } })
          .sort({ _id: -1 })
          .limit(1)
          .next();
        const parts = last && partsOfSeriesKey(last._id);
        if (!parts) return found.toSorted(newestSeriesFirst);
        found.push({ name: parts.name, serial: parts.serial });
        below = `${prefix}${parts.name} `;
      }
    },
  };
}
