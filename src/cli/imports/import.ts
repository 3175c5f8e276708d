import { basename } from 'node:path';
import { MINUTE_MS } from '../../domain/durations.ts';
import { IMPORT_LIMITS } from '../../domain/imports/limits.ts';
import { type Command, type CommandContext, type ParsedArguments, UsageError } from '../command.ts';
import { readInput } from '../files.ts';
import { interruptible } from '../interruption.ts';
import { harmless, type Terminal } from '../terminal.ts';
import { type Access, accessOf, SERVICE_OPTIONS } from '../webhooks/service.ts';
import { chosenColumns, parseColumns, toChoose } from './choose-columns.ts';
import {
  download,
  type FileOutcome,
  type ImportFacts,
  type ProblemFacts,
  problemsOf,
  remap,
  start,
  upload,
  waitFor,
} from './service.ts';
import { watchFolder } from './watch-folder.ts';

/** Maximum number of problems that are printed. The returned file contains all. */
const PRINTED = 50;
/** Maximum wait for the authority's decisions, milliseconds. */
const DECISIONS_MS = 2 * MINUTE_MS;

export const importFile: Command = {
  name: 'import',
  summary: 'Issues the invoices of a workbook or CSV file, or of each file that comes into a folder',
  positionals: ['FILE'],
  options: {
    'dry-run': { description: 'Only check every row; nothing is issued' },
    out: { value: 'FILE', description: 'Write the file again, with the verdicts in added columns' },
    watch: { description: 'FILE is a folder: import each file in it once it has stopped growing' },
    language: {
      value: 'LANGUAGE',
      description: 'Language of messages if the file does not tell',
      choices: ['fr', 'ar', 'en'],
    },
    columns: {
      value: 'COLUMNS',
      description: 'What columns are, by their headers: "Remise=line.discount.percent, N°=none"',
    },
    'private-customers': { description: 'Customers without an ICE are private persons' },
    json: { description: 'Print an object' },
    ...SERVICE_OPTIONS,
  },
  details: `Rows with problems are listed and left out; everything else is issued. The same file again issues nothing again, a
corrected one only what was corrected: see docs/api/imports.md. The exit code is 1 if an invoice has problems, was refused
or is rejected.
What columns and customers are is kept for later files with the same headers.
With --watch, a file that was imported is moved to the folder's "imported", one that cannot be read to "refused", and each
comes back with its verdicts in "results". Stop it with Ctrl-C, exit code 130.`,
  async run(input, context) {
    const access = await accessOf(input, context);
    if (input.has('watch')) {
      if (input.find('out') !== null) throw new UsageError('--out is for one file; --watch writes to "results"');
      if (input.has('dry-run')) throw new UsageError('--dry-run is for one file');
      const importFound = (path: string, out: string) => importOne(access, path, out, input, context.terminal);
      return interruptible((signal) => watchFolder(input.get('FILE'), context.terminal, importFound, signal));
    }
    return importOne(access, input.get('FILE'), input.find('out'), input, context.terminal).then(({ code }) => code);
  },
};

async function importOne(
  access: Access,
  path: string,
  out: string | null,
  input: ParsedArguments,
  terminal: CommandContext['terminal'],
): Promise<FileOutcome> {
  const isDry = input.has('dry-run');
  const bytes = await readInput(path, IMPORT_LIMITS.fileBytes);
  const id = await upload(access, basename(path), bytes, input.find('language'));
  const isRead = ({ status }: ImportFacts) => status !== 'reading';
  let facts = await waitFor(access, id, isRead);
  if (await chooseColumns(access, facts, input)) facts = await waitFor(access, id, isRead);
  const isReadable = facts.status !== 'unreadable' && facts.reading?.missing.length === 0;
  if (isReadable && !isDry && facts.counts.ready > 0) {
    await start(access, facts);
    // An import with a failure waits for a person, so this command stops waiting. The service continues by itself.
    facts = await waitFor(access, id, ({ status, failure }) => status === 'done' || failure !== null);
    if (facts.status === 'done') facts = await waitFor(access, id, ({ settled }) => settled, DECISIONS_MS);
  }
  const problems = isReadable ? await problemsOf(access, id, PRINTED) : [];
  if (input.has('json')) terminal.print(JSON.stringify({ file: path, import: facts, problems }));
  else report(terminal, path, facts, problems, isDry);
  if (out !== null && facts.reading !== null) {
    await download(access, id, out);
    if (!input.has('json')) terminal.print(`${harmless(out)} has the verdict of each row.`);
  }
  const { faulty, refused, rejected } = facts.counts;
  const isWhole = isReadable && facts.failure === null && faulty + refused + rejected === 0;
  return { code: isWhole ? 0 : 1, isReadable };
}

/** Chooses columns and customers according to the options. @returns whether the file is read again */
async function chooseColumns(access: Access, { id, reading }: ImportFacts, input: ParsedArguments): Promise<boolean> {
  const stated = parseColumns(input);
  if (reading === null) return false;
  const columns = chosenColumns(reading.columns, stated);
  const arePrivate = input.has('private-customers');
  if (columns.length === 0 && (!arePrivate || reading.privateCustomers)) return false;
  await remap(access, id, columns, arePrivate || null);
  return true;
}

function report(
  terminal: Terminal,
  path: string,
  { reading, failure, counts }: ImportFacts,
  problems: readonly ProblemFacts[],
  isDry: boolean,
): void {
  if (reading === null) {
    terminal.print(`${harmless(path)} cannot be read: ${harmless(failure?.message ?? 'unknown')}`);
    return;
  }
  terminal.print(`${harmless(path)}: ${harmless(factsOf(reading))}.`);
  const unused = reading.columns.filter(
    ({ header, field, mayBe, result }) => field === null && mayBe.length === 0 && !result && header !== '',
  );
  if (unused.length > 0) terminal.print(`Not used: ${harmless(unused.map(({ header }) => header).join(', '))}.`);
  const { otherSheets, ignoredRows } = reading;
  if (otherSheets.length > 0)
    terminal.print(`Not read: ${harmless(otherSheets.map((name) => `sheet "${name}"`).join(', '))}.`);
  if (ignoredRows.length > 0)
    terminal.print(`Rows left out: ${ignoredRows.map(({ row, reason }) => `${row} (${reason})`).join(', ')}.`);
  for (const line of toChoose(reading.missing, reading.columns)) terminal.print(harmless(line));
  if (reading.missing.length > 0)
    terminal.print('The page of imports asks for them, too. They are kept for files with the same headers.');
  for (const each of problems) terminal.print(`  ${terminal.style('red', placeOf(each))} ${harmless(each.message)}`);
  if (problems.length === PRINTED) terminal.print('  … and maybe more: --out writes all of them.');
  const { invoices, ready, faulty, known, issued, refused, accepted, rejected } = counts;
  const of = (count: number, what: string) => (count > 0 ? [`${count} ${what}`] : []);
  const parts = [
    ...of(ready, isDry ? 'ready to issue' : 'not issued yet'),
    ...of(issued, 'issued'),
    ...of(accepted, 'of them accepted'),
    ...of(rejected, 'of them rejected'),
    ...of(known, 'issued before'),
    ...of(faulty, 'to be corrected'),
    ...of(refused, 'refused'),
  ];
  terminal.print(`${invoices} invoices: ${parts.join(', ') || 'none'}.`);
  if (failure !== null)
    terminal.print(`Nothing is issued at present: ${harmless(failure.message)} The service goes on by itself.`);
}

function factsOf(reading: NonNullable<ImportFacts['reading']>): string {
  const { format, sheet, encoding, separator, decimalSign, dateOrder, rows } = reading;
  return [
    format === 'xlsx'
      ? `sheet "${sheet}"`
      : `CSV in ${encoding}, separated by ${separator === '\t' ? 'tabs' : separator}`,
    ...(decimalSign === null ? [] : [`decimals after "${decimalSign}"`]),
    ...(dateOrder === null ? [] : [`dates as ${dateOrder}`]),
    `${rows} rows`,
  ].join(', ');
}

function placeOf({ sheet, row, column, header, value }: ProblemFacts): string {
  const cell = column === null ? '' : `, column ${column}${header ? ` "${header}"` : ''}`;
  return harmless(
    `${sheet ? `${sheet}, ` : ''}row ${row}${cell}${value === null ? '' : `, ${JSON.stringify(value)}`}:`,
  );
}
