import { KIND_NAMES } from '../domain/invoice/kinds.ts';
import { legalNumber, newestSeriesFirst, type SeriesNumber, seriesOf } from '../domain/invoice/series-number.ts';
import { administer } from './administer.ts';
import type { Command } from './command.ts';
import { columns, harmless } from './terminal.ts';

interface Row {
  readonly tenant: string;
  readonly name: string;
  readonly series: string;
  /** The last number; null if the series has none yet. */
  readonly last: string | null;
  readonly next: string;
}

export const listNumbers: Command = {
  name: 'numbers list',
  summary: "Lists the last and the next number of the tenants' live series",
  positionals: [],
  options: {
    tenant: { value: 'TENANT', description: 'Only of this tenant' },
    json: { description: 'Print a list of objects' },
  },
  details: `Of tenants that have live keys or live invoices, by year (Africa/Casablanca): 2026 for invoices, AV-2026 for credit notes.
Numbers that clients give themselves are not listed. After a restore of older data the series may have been further:
docs/operations.md, "After a restore of a backup or a followed copy".`,
  async run(input, context) {
    const { terminal } = context;
    const only = input.find('tenant');
    const rows = await administer(context, async ({ tenants, numberSeries }) => {
      const listed = (await tenants.list()).filter(({ id }) => only === null || id === only);
      if (only !== null && listed.length === 0) throw new Error(`There is no tenant '${harmless(only)}'.`);
      const found: Row[] = [];
      const createdAt = new Date();
      const present = KIND_NAMES.map((kind) => ({
        name: seriesOf({ kind, createdAt }),
        serial: 0,
      }));
      for (const { id, name, environments } of listed) {
        const row = (series: SeriesNumber): Row => ({
          tenant: id,
          name,
          series: series.name,
          last: series.serial === 0 ? null : legalNumber(series),
          next: legalNumber({ ...series, serial: series.serial + 1 }),
        });
        const begun = await numberSeries.lastNumbers({ tenantId: id, environment: 'live' });
        const isBegun = (series: SeriesNumber) => begun.some((each) => each.name === series.name);
        const empty = environments.includes('live') ? present.filter((series) => !isBegun(series)) : [];
        found.push(...[...empty, ...begun].toSorted(newestSeriesFirst).map(row));
      }
      return found;
    });
    if (input.has('json')) terminal.print(JSON.stringify(rows));
    else if (rows.length === 0) terminal.print('No tenant has live keys or live invoices.');
    else {
      const texts = rows.map(({ tenant, name, series, last, next }) => [
        tenant,
        harmless(name),
        series,
        last ?? '-',
        next,
      ]);
      terminal.print(columns([['TENANT', 'NAME', 'SERIES', 'LAST', 'NEXT'], ...texts]));
    }
    return 0;
  },
};
