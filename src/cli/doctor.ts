import type { Config } from '../config.ts';
import type { Command, CommandParts } from './command.ts';
import {
  checkCertificate,
  checkClock,
  checkDataFolder,
  checkMail,
  checkNode,
  checkRenderer,
  checkService,
  checkStore,
  type Finding,
} from './doctor-checks.ts';
import { harmless, type Style, wrap } from './terminal.ts';

export const doctor: Command = {
  name: 'doctor',
  summary: 'Checks what the service needs on this machine, and says what to do',
  positionals: [],
  options: {},
  details:
    'Uses the same settings as the service. Exit code 1 when something fails that the service can not do without.',
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
  const { finding: store, clock } = await checkStore(config, parts.openAdministration);
  yield store;
  const certificate = await checkCertificate(() => parts.signingCertificate(config), new Date());
  yield certificate.finding;
  yield checkClock(new Date(), { store: clock, validFrom: certificate.validFrom });
  yield await checkRenderer(() => parts.diagnoseRenderer(config));
  yield await checkMail(() => parts.diagnoseMail(config));
  yield await checkService(config);
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
