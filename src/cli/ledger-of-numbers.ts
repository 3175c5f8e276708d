import type { Fate, LedgerEntry, NumberedDocument, NumberRange } from '../domain/invoice/periods/number-ledger.ts';
import { readNumbers, readRanges } from '../domain/invoice/periods/read-numbers.ts';
import { PAGE_SIZE } from '../domain/limits.ts';
import { decimalOf } from '../domain/money.ts';
import { moroccanDate } from '../domain/morocco/time.ts';
import { ENVIRONMENTS, type Environment } from '../domain/tenant/tenant.ts';
import { administer } from './administer.ts';
import type { Command } from './command.ts';
import { columns, harmless } from './terminal.ts';

const WORDS: Readonly<Record<Fate, string>> = {
  accepted: 'accepted',
  partly_credited: 'accepted',
  credited: 'accepted',
  rejected: 'rejected',
  under_way: 'under way',
  assigning: 'being assigned',
  lost: 'no document: passed over after older data was restored',
  missing: 'no document, and nothing says why: run check',
};

export const ledgerOfNumbers: Command = {
  name: 'numbers ledger',
  summary: 'Lists every number of a period in order, with what became of it and with the gaps',
  positionals: ['TENANT_ID', 'PERIOD'],
  options: {
    environment: { value: 'ENVIRONMENT', choices: ENVIRONMENTS, description: 'Default: live' },
    json: { description: 'Print an object a line: first the series, then the numbers' },
  },
  details: `PERIOD is a month, a quarter or a year (Africa/Casablanca): 2026-11, 2026-Q4 or 2026. The page of the period in the dashboard
shows the same. Numbers that clients give themselves are not listed.`,
  async run(input, context) {
    const [tenantId, period] = [input.get('TENANT_ID'), input.get('PERIOD')];
    const environment = (input.find('environment') ?? 'live') as Environment;
    const { terminal } = context;
    const isJson = input.has('json');
    await administer(context, async ({ tenants, issuedNumbers }) => {
      if (!(await tenants.find(tenantId))) throw new Error(`There is no tenant '${harmless(tenantId)}'.`);
      const [needs, owner] = [
        { issuedNumbers, now: () => new Date() },
        { tenantId, environment },
      ];
      for (const range of await readRanges(needs, owner, period))
        terminal.print(isJson ? JSON.stringify(range) : rangeText(range));
      for (let after: string | null = null; ; ) {
        const cursor = after === null ? null : { direction: 'after' as const, id: after };
        const { rows, hasMore } = await readNumbers(needs, owner, period, { limit: PAGE_SIZE.most, cursor });
        if (isJson) for (const row of rows) terminal.print(JSON.stringify(objectOf(row)));
        else if (rows.length > 0) terminal.print(columns(rows.map(rowOf)));
        const last = rows.at(-1);
        if (!hasMore || !last) return;
        after = last.id;
      }
    });
    return 0;
  },
};

function rangeText({ series, first, last, count, lost }: NumberRange): string {
  if (first === null) return `${series}: no number`;
  const gaps = lost.map(({ number, through }) => (number === through ? number : `${number} to ${through}`));
  const noted = gaps.length === 0 ? 'no gap noted' : `without ${gaps.join(', ')}`;
  const counted = count === null ? `${noted} and more` : `${count} numbers, ${noted}`;
  return `${series}: ${first} to ${last}, ${counted}`;
}

function rowOf({ id, number, fate, document, replacedBy, creditedBy }: LedgerEntry): string[] {
  const numbered = id === number ? number : `${number} to ${id}`;
  const by = (documents: readonly NumberedDocument[]) => documents.map((each) => each.number ?? each.id).join(', ');
  const what = [
    WORDS[fate],
    ...(fate === 'credited' ? [`credited by ${by(creditedBy)}`] : []),
    ...(fate === 'partly_credited' ? [`credited in part by ${by(creditedBy)}`] : []),
    ...(replacedBy ? [`replaced by ${by([replacedBy])}`] : []),
    ...(document?.original ? [`credits ${document.original.number}`] : []),
  ].join(', ');
  if (!document) return [numbered, '-', '-', '-', what];
  const { createdAt, amount, currency, customerName } = document;
  return [numbered, moroccanDate(createdAt), `${decimalOf(amount)} ${currency}`, harmless(customerName), what];
}

function objectOf({ id, number, fate, document, replacedBy, creditedBy }: LedgerEntry) {
  return {
    number,
    through: id,
    fate,
    document: document?.id ?? null,
    issue_date: document && moroccanDate(document.createdAt),
    amount: document?.amount ?? null,
    customer: document?.customerName ?? null,
    credits: document?.original?.number ?? null,
    replaced_by: replacedBy && (replacedBy.number ?? replacedBy.id),
    credited_by: creditedBy.map((each) => each.number ?? each.id),
  };
}
