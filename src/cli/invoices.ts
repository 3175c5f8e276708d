import { CONDITIONS } from '../domain/conditions/condition-table.ts';
import { NEVER } from '../domain/invoice/attention.ts';
import { calledById } from '../domain/invoice/kinds.ts';
import { createListAttention, LISTED_ATTENTION } from '../domain/invoice/list-attention.ts';
import { administer } from './administer.ts';
import type { Command, CommandContext } from './command.ts';
import { conditionText } from './doctor-conditions.ts';
import { statedReason } from './stated-reason.ts';
import { columns, harmless } from './terminal.ts';

export const invoicesNeedingAttention: Command = {
  name: 'invoices attention',
  summary: 'Lists the invoices whose processing fails or is late, and what else is wrong',
  positionals: [],
  options: { json: { description: 'Print a list of objects' } },
  details: `At most ${LISTED_ATTENTION} failing and ${LISTED_ATTENTION} waiting invoices. The service's log contains the errors. The service
retries each invoice by itself, except for the reason digest_mismatch: see docs/operations.md and invoices abandon.`,
  async run(input, context) {
    const { found, differences } = await administer(context, async (administration) => ({
      found: await createListAttention(administration.invoices, () => new Date())(),
      differences: await administration.differences.count(),
    }));
    const rows = found.map(({ invoiceId: invoice, tenantId: tenant, environment: _, ...attention }) => {
      return { invoice, tenant, ...attention };
    });
    const { terminal } = context;
    if (input.has('json')) terminal.print(JSON.stringify(rows));
    else if (rows.length === 0) terminal.print('No invoice needs attention.');
    else {
      const head = ['INVOICE', 'TENANT', 'STAGE', 'REASON', 'SINCE', 'NEXT ATTEMPT'];
      const time = (at: Date) => (at >= NEVER ? 'by invoices retry' : `${at.toISOString().slice(0, 19)}Z`);
      terminal.print(
        columns([
          head,
          ...rows.map((row) => [
            row.invoice,
            row.tenant,
            row.stage,
            row.reason,
            time(row.since),
            time(row.nextAttemptAt),
          ]),
        ]),
      );
    }
    if (!input.has('json')) await printConditions(context);
    const open = Object.values(differences).reduce((sum, count) => sum + count, 0);
    if (open > 0)
      terminal.remark(`Differences with the ledger of the authority: ${open}. authority reconcile lists them.`);
    return 0;
  },
};

/** Prints the other conditions of the installation, as `/ops` and the doctor state them. */
async function printConditions({ terminal, config, parts }: CommandContext): Promise<void> {
  const found = await (await parts.diagnosis()).diagnoseConditions(config());
  const others = found.filter(({ code }) => code !== 'invoices_stuck');
  if (others.length > 0) terminal.print('');
  for (const condition of others) {
    const { severity, advice } = CONDITIONS[condition.code];
    terminal.print(`${severity}: ${harmless(conditionText(condition))}`);
    terminal.print(`  ${advice.en}`);
  }
}

export const retryInvoice: Command = {
  name: 'invoices retry',
  summary: 'Retries an invoice at once and resets its count of failures',
  positionals: ['INVOICE_ID'],
  options: {},
  async run(input, context) {
    const id = input.get('INVOICE_ID');
    await administer(context, ({ operate }) => operate.retryInvoice(null, id));
    context.terminal.print(`The ${calledById(id)} is retried within seconds.`);
    return 0;
  },
};

export const abandonInvoice: Command = {
  name: 'invoices abandon',
  summary: 'Rejects an invoice whose id the authority holds with another document',
  positionals: ['INVOICE_ID'],
  options: {
    reason: { description: 'Why; clients see it in rejection_reason', value: 'TEXT', required: true },
    json: { description: 'Print an object' },
  },
  details: `For the reason digest_mismatch of invoices attention, as after a restore of older data, when it is clear what the authority
holds. It becomes rejected like any other invoice, with its event and webhooks, and that is final. Refused where the authority may hold
this invoice itself. The entry of the audit log is also written to standard error. Repeating it changes nothing.`,
  async run(input, context) {
    const id = input.get('INVOICE_ID');
    const reason = statedReason(input);
    const { invoice, isNew } = await administer(
      context,
      ({ operate }) => operate.abandonInvoice(null, id, reason),
      true,
    );
    const { status, rejectionReason, updatedAt } = invoice;
    const { terminal } = context;
    if (input.has('json'))
      terminal.print(
        JSON.stringify({ id, status, rejection_reason: rejectionReason, updated_at: updatedAt, new: isNew }),
      );
    else
      terminal.print(
        `${isNew ? `The ${calledById(id)} is rejected` : 'It was abandoned before'}: ${harmless(`${rejectionReason}`)}`,
      );
    return 0;
  },
};
