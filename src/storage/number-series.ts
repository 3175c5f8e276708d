import type { Db } from 'mongodb';
import type { NumberSeries } from '../domain/invoice/number-series.ts';
import type { SeriesNumber } from '../domain/invoice/series-number.ts';
import { type NumberDocument, partsOfSeriesKey } from './invoice-numbers.ts';

export function createNumberSeries(db: Db): NumberSeries {
  const numbers = db.collection<NumberDocument>('invoice_numbers');
  return {
    async lastNumbers({ tenantId, environment }) {
      const prefix = `${tenantId} ${environment} `;
      const found: SeriesNumber[] = [];
      // `:` is the character after `9`, so this excludes numbers of the client's own series, which sort behind it.
      for (let below = `${prefix}:`; ; ) {
        const last = await numbers
          .find({ _id: { $gte: prefix, $lt: below } })
          .sort({ _id: -1 })
          .limit(1)
          .next();
        const parts = last && partsOfSeriesKey(last._id);
        if (!parts) return found;
        const year = Number(parts.series.slice(prefix.length));
        found.push({ year, serial: parts.serial });
        below = `${prefix}${year} `;
      }
    },
  };
}
