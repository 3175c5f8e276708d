import type { Moved } from '../app/migration.ts';
import { type Command, type CommandContext, type ParsedArguments, UsageError } from './command.ts';
import { createMoveDisplay } from './move-display.ts';
import { columns } from './terminal.ts';

/** Number of characters of a digest that the table shows. */
const SHOWN = 16;

export const migrate: Command = {
  name: 'migrate',
  summary: 'Moves all data to a MongoDB, while the service is stopped',
  positionals: [],
  options: {
    to: { value: 'URL', description: 'The MongoDB to move to: an empty database, which the path of the URL names' },
    from: { value: 'URL', description: 'The MongoDB to move from; default: the embedded engine of DATA_DIR' },
    abandon: { description: 'Instead: makes the source usable again, however much has been moved' },
    json: { description: 'Print an object with what was moved' },
  },
  details: `Interrupted at any point, it goes on where it was when the same command is run again. In the end every collection is compared byte for
byte. Nothing starts on the source any more, so that the same legal number is never given twice: --abandon revokes that. The
target can be used when the command has ended with exit code 0. See docs/operations.md, "Moving to MongoDB".`,
  run(input, context) {
    const to = input.find('to');
    if (input.has('abandon') === (to !== null)) throw new UsageError('give either --to or --abandon');
    return to === null ? abandon(input, context) : move(input, to, context);
  },
};

async function abandon(input: ParsedArguments, { terminal, config, parts }: CommandContext): Promise<number> {
  if (!(await (await parts.migration()).abandonData(config(), input.find('from'))))
    throw new Error('This data is not being moved.');
  terminal.print('The service can be started on this data again. Drop the database that it was being moved to.');
  return 0;
}

async function move(input: ParsedArguments, to: string, { terminal, config, parts }: CommandContext): Promise<number> {
  const settings = config();
  const display = createMoveDisplay(terminal);
  let moved: Moved;
  try {
    moved = await (await parts.migration()).moveData(settings, input.find('from'), to, display.reports);
  } finally {
    display.close();
  }
  if (input.has('json')) terminal.print(JSON.stringify(moved));
  else for (const text of summary(moved, to)) terminal.print(text);
  return 0;
}

function* summary({ collections, address, masterKeyFile }: Moved, to: string): Generator<string> {
  if (collections === null) yield `The data was moved to ${address} already.`;
  else {
    const head = ['COLLECTION', 'DOCUMENTS', 'BYTES', 'INDEXES', 'SHA-256'];
    const rows = collections.map(({ name, documents, bytes, indexes, digest }) =>
      [name, documents, bytes, indexes, digest.slice(0, SHOWN)].map(String),
    );
    yield columns([head, ...rows]);
    yield `\nThe same in both: ${collections.reduce((sum, { documents }) => sum + documents, 0)} documents, byte for byte, and all indexes.`;
  }
  yield '\nStart the service with these settings, and with the others as they are, DATA_DIR included.';
  yield masterKeyFile === null
    ? 'In a shell:\n'
    : `In a shell; an env file wants the content of ${masterKeyFile} after MASTER_KEY= instead:\n`;
  yield `MONGODB_URL=${quoted(to)}`;
  yield masterKeyFile === null ? 'MASTER_KEY as it is set until now' : `MASTER_KEY="$(cat ${quoted(masterKeyFile)})"`;
}

/** Quotes a text as one word for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
