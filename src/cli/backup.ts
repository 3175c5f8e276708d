import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { Manifest } from '../app/backup/manifest.ts';
import type { Config } from '../config.ts';
import { moroccanDate } from '../domain/morocco/time.ts';
import {
  type Command,
  type CommandContext,
  INTERRUPTED,
  InputError,
  type ParsedArguments,
  UsageError,
} from './command.ts';
import { harmless, minute } from './terminal.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** The argument that means standard output or input instead of a folder. */
const STREAM = '-';

const workDir = {
  value: 'DIR',
  description: 'With -: where the copy is checked, with room for it. Default: the folder for temporary files',
} as const;

export const backup: Command = {
  name: 'backup',
  summary: 'Copies the data of the embedded engine, also while the service runs',
  positionals: [],
  options: {
    to: {
      value: 'DIR',
      required: true,
      description: 'A new folder for the copy; - writes a tar archive to standard output',
    },
    follow: { description: 'Keep the copy at most a second behind the running service, until Ctrl-C' },
    replace: { description: 'With --follow: replace the copy in DIR even if it has other or newer data' },
    'without-master-key': { description: 'Leave out master.key: the copy cannot be used without it' },
    'work-dir': workDir,
    json: { description: 'Print the manifest of the copy' },
  },
  details: `The copy has every invoice that was acknowledged when the command began, and usually later ones. It is checked, and
appears under its name when it is whole. It has the master key unless that is in MASTER_KEY: protect it as you protect keys.
restore --from DIR puts it into an empty DATA_DIR.
backup --to - | ssh HOST … keeps it elsewhere: docs/operations.md, "Backup", has the whole line. restore --from - < FILE puts it
back.`,
  async run(input, context) {
    const { terminal, parts } = context;
    const config = embedded(context, 'mongodump, snapshots of its disks, or the backups of a hosted MongoDB');
    const withMasterKey = !input.has('without-master-key');
    return untilSignal(async (signal) => {
      const to = input.get('to');
      const isJson = input.has('json');
      const place = workDirOf(input, to);
      // With --json and an archive on standard output, the manifest is the only output on standard error.
      const say = (what: string) => {
        if (place === null || !isJson) terminal.remark(`${what}…`);
      };
      const options = { withMasterKey, signal, say };
      const replace = input.has('replace');
      if (replace && !input.has('follow')) throw new UsageError('--replace belongs to --follow.');
      if (place !== null) {
        if (input.has('follow')) throw new UsageError('--follow needs a folder: an archive cannot be followed.');
        if (terminal.stream.isTTY)
          throw new InputError('Standard output is a terminal: send the archive to a file or a program.');
        const manifest = await (await parts.backupStream()).sendBackup(config, terminal.stream, {
          ...options,
          workDir: place,
        });
        terminal.remark(isJson ? JSON.stringify(manifest) : `The backup is sent: ${factsOf(manifest)}.`);
        return 0;
      }
      if (input.has('follow')) {
        await (await parts.followStore()).followStore(config, { ...options, to, replace });
        return 0;
      }
      const manifest = await (await parts.takeBackup()).takeBackup(config, { ...options, to });
      terminal.print(isJson ? JSON.stringify(manifest) : `The backup ${to} is whole: ${factsOf(manifest)}.`);
      return 0;
    });
  },
};

export const restore: Command = {
  name: 'restore',
  summary: 'Puts a backup into an empty DATA_DIR',
  positionals: [],
  options: {
    from: {
      value: 'DIR',
      required: true,
      description: 'The folder that backup made; - reads its archive from standard input',
    },
    'work-dir': workDir,
  },
  details: `The service must be stopped, and DATA_DIR empty. The copy is checked before anything is put in place. What was
acknowledged after the backup is gone: docs/operations.md says what to do about it.`,
  async run(input, context) {
    const { terminal, parts } = context;
    const config = embedded(context, 'mongorestore, or what made the backup');
    const from = input.get('from');
    const place = workDirOf(input, from);
    if (place !== null && process.stdin.isTTY)
      throw new InputError('Standard input is a terminal: let a file or a program send the archive.');
    return untilSignal(async (signal) => {
      const options = { signal, say: (what: string) => terminal.remark(`${what}…`) };
      const manifest =
        place === null
          ? await (await parts.restoreBackup()).restoreBackup(config, from, options)
          : await (await parts.backupStream()).receiveBackup(config, process.stdin, { ...options, workDir: place });
      terminal.print(
        `DATA_DIR ${config.dataDir} has the data of ${minute(new Date(manifest.takenAt))}: ${factsOf(manifest)}.`,
      );
      if (!manifest.masterKey)
        terminal.print(
          'The backup has no master key: put master.key into DATA_DIR, or set MASTER_KEY, before you start the service.',
        );
      terminal.print('Check it with: npm run -s cli -- check');
      terminal.print(beforeTheStart(manifest));
      return 0;
    });
  },
};

/** Maximum number of faults that are shown. */
const SHOWN = 100;

export const check: Command = {
  name: 'check',
  summary: 'Checks all that is stored, with or without a running service',
  positionals: [],
  options: { json: { description: 'Print an object with what was checked and the faults' } },
  details: `Every document and index, and whether invoices, numbers, documents, webhook events and deliveries agree. Of a stopped service
also the structure of the data file. With MONGODB_URL only whether they agree: the files of that server are checked by its own
validate. The exit code is 1 if there is a fault.`,
  async run(input, { terminal, config, parts }) {
    const shown: string[] = [];
    const isJson = input.has('json');
    const fault = (text: string): void => {
      if (shown.length >= SHOWN) return;
      shown.push(text);
      if (!isJson) terminal.print(harmless(text));
    };
    const report = await (await parts.checkStore()).checkStore(config(), fault, (what) => terminal.remark(`${what}…`));
    if (isJson) terminal.print(JSON.stringify({ ...report, shown }));
    else {
      if (report.faults > shown.length) terminal.print(`${report.faults - shown.length} more are not shown.`);
      const { collections, invoices, numbers, documents, files, events, deliveries, days, faults } = report;
      terminal.print(
        `${faults === 0 ? 'No fault' : `${faults} faults`}: ${collections} collections, ${invoices} invoices, ${numbers} numbers, ${documents} documents of theirs, ${files} files, ${events} webhook events, ${deliveries} deliveries, the sums of ${days} days.`,
      );
    }
    return report.faults === 0 ? 0 : 1;
  },
};

/**
 * Refuses the command if a MongoDB server is configured.
 * @param tools the server's own tools for this
 * @throws {InputError}
 */
function embedded({ config }: CommandContext, tools: string): Config {
  const settings = config();
  if (settings.mongodbUrl === null) return settings;
  throw new InputError(
    `MONGODB_URL is set: all data is in that database, and this command is for the embedded engine. Use MongoDB's own tools: ${tools}. Keep MASTER_KEY separately.`,
  );
}

/**
 * Returns the folder in which an archive is checked; null if there is no archive.
 * @throws {InputError} if it is not a folder
 */
function workDirOf(input: ParsedArguments, place: string): string | null {
  const given = input.find('work-dir');
  if (place !== STREAM) {
    if (given !== null) throw new UsageError(`--work-dir belongs to an archive, which ${STREAM} stands for.`);
    return null;
  }
  const folder = given ?? tmpdir();
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder;
  throw new InputError(`--work-dir ${folder} is not a folder.`);
}

/**
 * Runs `work` with an abort signal that Ctrl-C, SIGTERM and SIGHUP trigger. An error after a signal counts as the
 * abort.
 */
async function untilSignal(work: (signal: AbortSignal) => Promise<number>): Promise<number> {
  const controller = new AbortController();
  const interrupt = () => controller.abort();
  // The terminal sends the signal to npm, too, which passes it on again. This second signal must not interrupt the
  // cleanup.
  for (const signal of SIGNALS) process.on(signal, interrupt);
  try {
    return await work(controller.signal);
  } catch (error) {
    if (controller.signal.aborted) return INTERRUPTED;
    throw error;
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupt);
  }
}

/**
 * Returns what the operator must do before the start. Always printed, because only opening the data shows whether it
 * contains live invoices.
 */
function beforeTheStart({ takenAt }: Manifest): string {
  return `
If it has live keys or live invoices: what was acknowledged after ${takenAt} is gone here, but not at the tax authority.
Before the first start follow docs/operations.md, "After a restore of a backup or a followed copy": otherwise numbers are given
twice. It begins with the settings, which a copy does not have (npm run -s cli -- doctor), and with
  npm run -s cli -- authority reconcile --since ${moroccanDate(new Date(takenAt))}`;
}

function factsOf({ takenAt, dataBytes, documents }: Manifest): string {
  const invoices = Object.entries(documents).find(([name]) => name.endsWith('.invoices'))?.[1] ?? 0;
  const all = Object.values(documents).reduce((sum, count) => sum + count, 0);
  return `${invoices} invoices, ${all} documents, ${(dataBytes / 1e6).toFixed(1)} MB, taken at ${takenAt}`;
}
