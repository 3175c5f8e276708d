import { entryByOperator } from '../domain/audit-entry.ts';
import { legalNumber, seriesNumberOf } from '../domain/invoice/series-number.ts';
import { administer } from './administer.ts';
import { type Command, UsageError } from './command.ts';

export const continueNumbers: Command = {
  name: 'numbers continue',
  summary: 'Lets a tenant’s live invoices go on after a number, when older data was restored',
  positionals: ['TENANT_ID', 'NUMBER'],
  options: {
    confirm: {
      value: 'NUMBER',
      description: 'The number once more: needed if the restored data has none of that series',
    },
  },
  details: `NUMBER is the last one that was given out in the lost data, such as 2026-000123 or AV-2026-000123, or a higher one if that
is not known: a gap does less harm than a number that two invoices have. At most 1,000,000 numbers are passed over at once. The
service must not run meanwhile. It cannot be undone.`,
  async run(input, context) {
    const [tenantId, number, confirmed] = [input.get('TENANT_ID'), input.get('NUMBER'), input.find('confirm')];
    const last = seriesNumberOf(number);
    if (!last)
      throw new UsageError(
        `NUMBER must be one of the service's series, such as 2026-000123 or AV-2026-000123, not '${number}'`,
      );
    if (confirmed !== null && confirmed !== number) throw new UsageError(`--confirm must be '${number}', the number`);
    const numberOf = (serial: number) => legalNumber({ name: last.name, serial });
    const next = numberOf(last.serial + 1);
    const lost = await administer(context, async ({ tenants, lostNumbers, audit, store }) => {
      // The worker of a running engine may send no heartbeats, so it is detected here.
      if (store.kind === 'running engine') throw new Error('The service runs. Stop it, then repeat this.');
      if (!(await tenants.find(tenantId))) throw new Error(`There is no tenant '${tenantId}'.`);
      const owner = { tenantId, environment: 'live' } as const;
      const passed = await lostNumbers.continueAfter(owner, last, { mayBegin: confirmed !== null });
      if (passed === 'reached')
        throw new Error(`The live series ${last.name} of ${tenantId} has reached ${number} already.`);
      if (passed === 'empty')
        throw new Error(
          `${tenantId} has no live number of ${last.name} yet, and its first one would be ${next}. If the series is right, repeat this with --confirm ${number}.`,
        );
      const range = { from: numberOf(passed.from), until: numberOf(passed.until) };
      await audit(entryByOperator(tenantId, 'live', 'numbers.continued', { subject: null, details: range }));
      return range;
    });
    const passedOver = lost.from === lost.until ? lost.from : `${lost.from} to ${lost.until}`;
    context.terminal.print(`${passedOver} will not be given to another invoice. The next one gets ${next}.`);
    return 0;
  },
};
