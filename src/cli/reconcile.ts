import { summaryOf } from '../domain/authority/reconcile.ts';
import { DIFFERENCE_KINDS, type Difference, MOST_OF_A_KIND } from '../domain/authority/reconciliation.ts';
import { isCalendarDate } from '../domain/calendar-date.ts';
import { type Command, InputError, type ParsedArguments } from './command.ts';
import { columns, harmless, minute, type Terminal } from './terminal.ts';

/** Rows of each kind in the table. */
const SHOWN = 100;

export const reconcileAuthority: Command = {
  name: 'authority reconcile',
  summary: "Compares the authority's ledger with the live invoices",
  positionals: [],
  options: {
    since: {
      value: 'DATE',
      description: 'Compare again what was decided since this day (YYYY-MM-DD, UTC); default: since the last run',
    },
    json: { description: 'Print an object with the run and its differences' },
  },
  details: `The service does this every night. Invoices that the authority has decided and the service has not are looked up by
the running service. Everything else that differs is listed until a later run finds that it is gone; docs/operations.md says
what each difference means. The exit code is 1 if the ledger could not be read to its end, or differences are open.`,
  async run(input, { terminal, config, parts }) {
    const since = sinceOf(input);
    const reconciliation = await parts.openReconciliation(config());
    try {
      const isShown = !input.has('json') && terminal.stream.isTTY;
      const run = await reconciliation.reconcile({
        since,
        ...(isShown && { progress: (entries: number, invoices: number) => show(terminal, entries, invoices) }),
      });
      if (isShown) terminal.stream.write('\r\u001b[K');
      const kinds = DIFFERENCE_KINDS.map((kind) => reconciliation.differences.open(kind, null, MOST_OF_A_KIND));
      const lists = await Promise.all(kinds);
      const differences = lists.flat();
      if (input.has('json')) terminal.print(JSON.stringify({ run, differences }));
      else {
        terminal.print(`${harmless(summaryOf(run))}.`);
        if (run.leftOut > 0) terminal.print(`${run.leftOut} further differences are not listed: too many are open.`);
        if (differences.length > 0) terminal.print(tableOf(lists));
      }
      return run.outcome === 'complete' && differences.length === 0 ? 0 : 1;
    } finally {
      await reconciliation.close();
    }
  },
};

/** @throws {InputError} */
function sinceOf(input: ParsedArguments): Date | null {
  const day = input.find('since');
  if (day === null) return null;
  const since = new Date(`${day}T00:00:00Z`);
  if (!isCalendarDate(day) || since.getTime() > Date.now())
    throw new InputError(`--since must be a day that has begun (YYYY-MM-DD), not '${day}'.`);
  return since;
}

function show({ stream }: Terminal, entries: number, invoices: number): void {
  stream.write(`\r\u001b[K${entries} entries read, ${invoices} invoices looked for`);
}

function tableOf(lists: readonly (readonly Difference[])[]): string {
  const head = ['DIFFERENCE', 'SUBMISSION', 'INVOICE', 'TENANT', 'HERE', 'AUTHORITY', 'SINCE'];
  const rows = lists.flatMap((list) => list.slice(0, SHOWN)).map((each) => rowOf(each).map(harmless));
  const more = lists.flatMap((list) => {
    const [first] = list;
    return first && list.length > SHOWN ? [`${list.length - SHOWN} more of ${first.kind}: --json lists them.`] : [];
  });
  return [columns([head, ...rows]), ...more].join('\n');
}

function rowOf({ kind, submissionId, invoiceId, tenantId, ours, theirs, firstSeen }: Difference): string[] {
  return [kind, submissionId, invoiceId ?? '-', tenantId ?? '-', ours ?? '-', theirs ?? '-', minute(firstSeen)];
}
