import { entryByOperator } from '../domain/audit-entry.ts';
import { legalNumber, seriesNumberOf } from '../domain/invoice/legal-invoice.ts';
import { administer } from './administer.ts';
import { type Command, UsageError } from './command.ts';

export const continueNumbers: Command = {
  name: 'numbers continue',
  summary: 'Lets a tenant’s live invoices go on after a number, when older data was restored',
  positionals: ['TENANT_ID', 'NUMBER'],
  options: {},
  details: `NUMBER is the last one that was given out in the lost data, such as 2026-000123, or a higher one if that is not known: a gap
does less harm than a number that two invoices have. The service must not run meanwhile. It cannot be undone.`,
  async run(input, context) {
    const [tenantId, number] = [input.get('TENANT_ID'), input.get('NUMBER')];
    const last = seriesNumberOf(number);
    if (!last) throw new UsageError(`NUMBER must be one of the service's series, such as 2026-000123, not '${number}'`);
    const lost = await administer(context, async ({ tenants, lostNumbers, audit, store }) => {
      // It has the only worker, which sends no heartbeats.
      if (store.kind === 'running engine') throw new Error('The service runs. Stop it, then repeat this.');
      if (!(await tenants.find(tenantId))) throw new Error(`There is no tenant '${tenantId}'.`);
      const passed = await lostNumbers.continueAfter({ tenantId, environment: 'live' }, last);
      const numberOf = (serial: number) => legalNumber({ year: last.year, serial });
      const range = passed && { from: numberOf(passed.from), until: numberOf(passed.until) };
      if (range) await audit(entryByOperator(tenantId, 'live', 'numbers.continued', { subject: null, details: range }));
      return range;
    });
    if (!lost) throw new Error(`The live series of ${tenantId} has reached ${number} already.`);
    const passedOver = lost.from === lost.until ? lost.from : `${lost.from} to ${lost.until}`;
    context.terminal.print(`${passedOver} will not be given to another invoice.`);
    return 0;
  },
};
