import { legalNumber, seriesYear } from '../domain/invoice/legal-invoice.ts';
import { administer } from './administer.ts';
import type { Command } from './command.ts';
import { columns, harmless } from './terminal.ts';

interface Series {
  readonly tenant: string;
  readonly name: string;
  readonly year: number;
  /** The last number; null if there is none in this year. */
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
  details: `Of tenants that have live keys or live invoices, by year (Africa/Casablanca). Numbers that clients give themselves are not
listed. After a restore of older data the series may have been further: docs/operations.md, "After a restore of a backup or a followed copy".`,
  async run(input, context) {
    const { terminal } = context;
    const only = input.find('tenant');
    const rows = await administer(context, async ({ tenants, numberSeries }) => {
      const listed = (await tenants.list()).filter(({ id }) => only === null || id === only);
      if (only !== null && listed.length === 0) throw new Error(`There is no tenant '${harmless(only)}'.`);
      const found: Series[] = [];
      const thisYear = seriesYear(new Date());
      for (const { id, name, environments } of listed) {
        const row = (year: number, serial: number): Series => ({
          tenant: id,
          name,
          year,
          last: serial === 0 ? null : legalNumber({ year, serial }),
          next: legalNumber({ year, serial: serial + 1 }),
        });
        const series = await numberSeries.lastNumbers({ tenantId: id, environment: 'live' });
        if (environments.includes('live') && !series.some(({ year }) => year === thisYear))
          found.push(row(thisYear, 0));
        found.push(...series.map(({ year, serial }) => row(year, serial)));
      }
      return found;
    });
    if (input.has('json')) terminal.print(JSON.stringify(rows));
    else if (rows.length === 0) terminal.print('No tenant has live keys or live invoices.');
    else {
      const texts = rows.map(({ tenant, name, year, last, next }) => [
        ...[tenant, harmless(name), String(year), last ?? '-', next],
      ]);
      terminal.print(columns([['TENANT', 'NAME', 'YEAR', 'LAST', 'NEXT'], ...texts]));
    }
    return 0;
  },
};
