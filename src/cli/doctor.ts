import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { Command, CommandParts } from './command.ts';
import {
  checkCertificate,
  checkClock,
  checkDataFolder,
  checkMail,
  checkMasterKey,
  checkNode,
  checkRenderer,
  checkStore,
  type Finding,
} from './doctor-checks.ts';
import { checkService } from './doctor-service.ts';
import { harmless, type Style, wrap } from './terminal.ts';

export const doctor: Command = {
  name: 'doctor',
  summary: 'Checks what the service needs on this machine, and says what to do',
  positionals: [],
  options: {},
  details:
    'Uses the same settings as the service. What the data folder does not have yet is tried in a temporary one. Exit code 1 when something fails that the service can not do without.',
  async run(_input, { terminal, config, parts }) {
    const failed = new Set<string>();
    for await (const finding of findings(config(), parts)) {
      if (finding.state === 'fails') failed.add(finding.subject);
      terminal.print(findingText(finding, terminal.width(), terminal.style));
    }
    terminal.print('');
    terminal.print(
      failed.size === 0
        ? 'The service can work here.'
        : `The service can not work here before this is put right: ${[...failed].join(', ')}.`,
    );
    return failed.size === 0 ? 0 : 1;
  },
};

async function* findings(config: Config, parts: CommandParts): AsyncGenerator<Finding> {
  yield checkNode(process.versions.node);
  const folder = await checkDataFolder(config.dataDir);
  yield* folder;
  // Without the folder there is neither an embedded store nor a certificate.
  if (folder.some(({ state }) => state === 'fails')) return;
  const trial = await mkdtemp(join(tmpdir(), 'fatoura-doctor-'));
  // A look leaves nothing behind: what the data folder has not yet is made in a temporary one.
  const inPlace = (name: string): Config =>
    existsSync(join(config.dataDir, name)) ? config : { ...config, dataDir: trial };
  const told = (finding: Finding, name: string): Finding =>
    existsSync(join(trial, name))
      ? { ...finding, found: `${finding.found}; a trial, the first start makes it` }
      : finding;
  try {
    const store = await checkStore(inPlace('db'), parts.openAdministration);
    yield told(store.finding, 'db');
    if (store.finding.state !== 'fails') yield await checkMasterKey(() => parts.diagnoseMasterKey(inPlace('db')));
    const identity = 'signing-test-identity.pem';
    const certificate = await checkCertificate(() => parts.signingCertificate(inPlace(identity)), new Date());
    yield told(certificate.finding, identity);
    yield checkClock(new Date(), { store: store.clock, validFrom: certificate.validFrom });
    yield told(await checkRenderer(() => parts.diagnoseRenderer(inPlace('chromium'))), 'chromium');
    yield await checkMail(() => parts.diagnoseMail(config));
    yield await checkService(config, store.kind);
  } finally {
    await rm(trial, { recursive: true, force: true });
  }
}

const MARKS = { works: ['green', '✔'], warns: ['yellow', '!'], fails: ['red', '✘'] } as const;

const INDENT = 15;

/** `✔ store        what was found`, advice on lines of its own. */
export function findingText({ subject, state, found, advice }: Finding, width: number, style: Style): string {
  const [colour, mark] = MARKS[state];
  const under = (text: string) => wrap(harmless(text), width - INDENT).replaceAll('\n', `\n${' '.repeat(INDENT)}`);
  const lines = [`${style(colour, mark)} ${subject.padEnd(INDENT - 2)}${under(found)}`];
  if (advice !== undefined) lines.push(' '.repeat(INDENT) + under(`→ ${advice}`));
  return lines.join('\n');
}
