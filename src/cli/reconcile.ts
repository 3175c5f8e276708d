import { entryByOperator, INSTALLATION } from '../domain/audit-entry.ts';
import { summaryOf } from '../domain/authority/reconcile.ts';
import {
  DIFFERENCE_KINDS,
  type Difference,
  type DifferenceKind,
  type DifferenceRepository,
} from '../domain/authority/reconciliation.ts';
import { isCalendarDate } from '../domain/calendar-date.ts';
import { startOfMoroccanDay } from '../domain/morocco/time.ts';
import { administer } from './administer.ts';
import { type Command, InputError, type ParsedArguments, UsageError } from './command.ts';
import { statedReason } from './stated-reason.ts';
import { columns, harmless, minute, type Terminal } from './terminal.ts';

/** Maximum number of rows of each kind in a table. */
const SHOWN = 100;
/** Number of differences that are read at a time. */
const BATCH = 500;

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
what each difference means. The exit code is 1 if the ledger could not be read to its end, or differences are open. Those that an
operator has acknowledged (authority acknowledge) are listed apart, and are not open.`,
  async run(input, { terminal, config, parts }) {
    const since = sinceOf(input);
    const { openReconciliation } = await parts.reconciliation();
    const reconciliation = await openReconciliation(config());
    try {
      const isShown = !input.has('json') && terminal.stream.isTTY;
      const run = await reconciliation.reconcile({
        since,
        ...(isShown && { progress: (entries: number, invoices: number) => show(terminal, entries, invoices) }),
      });
      if (isShown) terminal.stream.write('\r\u001b[K');
      const lists = await Promise.all(DIFFERENCE_KINDS.map((kind) => allOf(reconciliation.differences, kind)));
      const [open, acknowledged] = [false, true].map((isKnown) =>
        lists.map((list) => list.filter((each) => (each.acknowledged !== null) === isKnown)),
      ) as [Difference[][], Difference[][]];
      if (input.has('json')) terminal.print(JSON.stringify({ run, differences: lists.flat() }));
      else {
        terminal.print(`${harmless(summaryOf(run))}.`);
        if (run.leftOut > 0) terminal.print(`${run.leftOut} further differences are not listed: too many are open.`);
        for (const each of [open, acknowledged]) if (each.flat().length > 0) terminal.print(tableOf(each));
      }
      return run.outcome === 'complete' && open.flat().length === 0 ? 0 : 1;
    } finally {
      await reconciliation.close();
    }
  },
};

/** Parses `--since`. @throws {InputError} */
function sinceOf(input: ParsedArguments): Date | null {
  const day = input.find('since');
  if (day === null) return null;
  const since = new Date(startOfMoroccanDay(day));
  if (!isCalendarDate(day) || since.getTime() > Date.now())
    throw new InputError(`--since must be a day that has begun (YYYY-MM-DD), not '${day}'.`);
  return since;
}

function show({ stream }: Terminal, entries: number, invoices: number): void {
  stream.write(`\r\u001b[K${entries} entries read, ${invoices} invoices looked for`);
}

async function allOf(
  differences: Pick<DifferenceRepository, 'unresolved'>,
  kind: DifferenceKind,
): Promise<Difference[]> {
  const all: Difference[] = [];
  for (;;) {
    const found = await differences.unresolved(kind, all.at(-1)?.submissionId ?? null, BATCH);
    all.push(...found);
    if (found.length < BATCH) return all;
  }
}

/** Formats differences as a table. @param lists a list for each kind, either all open or all acknowledged */
function tableOf(lists: readonly (readonly Difference[])[]): string {
  const isKnown = lists.flat().some(({ acknowledged }) => acknowledged !== null);
  const head = ['DIFFERENCE', 'SUBMISSION', 'INVOICE', 'TENANT', 'HERE', 'AUTHORITY', 'SINCE'];
  const rows = lists.flatMap((list) => list.slice(0, SHOWN)).map((each) => rowOf(each).map(harmless));
  const more = lists.flatMap((list) => {
    const [first] = list;
    return first && list.length > SHOWN ? [`${list.length - SHOWN} more of ${first.kind}: --json lists them.`] : [];
  });
  return [columns([isKnown ? [...head, 'ACKNOWLEDGED', 'REASON'] : head, ...rows]), ...more].join('\n');
}

function rowOf(difference: Difference): string[] {
  const { kind, submissionId, invoiceId, tenantId, ours, theirs, firstSeen, acknowledged } = difference;
  return [
    kind,
    submissionId,
    invoiceId ?? '-',
    tenantId ?? '-',
    ours ?? '-',
    theirs ?? '-',
    minute(firstSeen),
    ...(acknowledged ? [minute(acknowledged.at), acknowledged.reason] : []),
  ];
}

export const acknowledgeDifference: Command = {
  name: 'authority acknowledge',
  summary: 'Says of a difference with the ledger that it is known and stays',
  positionals: ['DIFFERENCE', 'SUBMISSION'],
  options: {
    reason: { value: 'TEXT', required: true, description: 'Why it stays; shown by authority reconcile' },
    json: { description: 'Print an object' },
  },
  details: `DIFFERENCE and SUBMISSION are the first two columns of authority reconcile: the kind, and the id under which the authority holds
the document. An acknowledged difference is still listed, with the reason, but it is not open: no alert counts it. When the authority
states another decision or digest, or what is stored here changes, it is open again. The entry of the audit log is also written to
standard error. Repeating it changes nothing.`,
  async run(input, context) {
    const [named, submissionId] = [input.get('DIFFERENCE'), input.get('SUBMISSION')];
    const kind = DIFFERENCE_KINDS.find((each) => each === named);
    if (!kind) throw new UsageError(`DIFFERENCE must be one of ${DIFFERENCE_KINDS.join(', ')}, not '${named}'`);
    const reason = statedReason(input);
    const { difference, isNew } = await administer(
      context,
      async ({ differences, tenants, audit }) => {
        const result = await differences.acknowledge(kind, submissionId, { at: new Date(), reason });
        if (!result)
          throw new Error(`There is no difference '${kind}' of '${submissionId}'. authority reconcile lists them.`);
        if (!result.isNew) return result;
        const { tenantId, invoiceId, theirs } = result.difference;
        // The log of an erased tenant no longer exists.
        const isKnown = tenantId !== null && (await tenants.find(tenantId)) !== null;
        const facts = {
          subject: invoiceId ?? submissionId,
          details: {
            difference: kind,
            submission: submissionId,
            reason,
            ...(theirs !== null && { authority: theirs }),
          },
        };
        const [owner, environment] = isKnown ? ([tenantId, 'live'] as const) : ([INSTALLATION, null] as const);
        await audit(entryByOperator(owner, environment, 'authority.difference_acknowledged', facts));
        return result;
      },
      true,
    );
    const { terminal } = context;
    if (input.has('json')) terminal.print(JSON.stringify({ ...difference, new: isNew }));
    else {
      terminal.print(isNew ? 'It counts no longer, unless it changes:' : 'It was acknowledged before:');
      terminal.print(tableOf([[difference]]));
    }
    return 0;
  },
};
