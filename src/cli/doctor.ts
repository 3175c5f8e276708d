import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandParts } from '../app/command-parts.ts';
import type { LiveNeed } from '../app/diagnosis.ts';
import type { Config } from '../config.ts';
import type { Command } from './command.ts';
import { checkAuthority } from './doctor-authority.ts';
import {
  checkCertificate,
  checkClock,
  checkDataFolder,
  checkMail,
  checkMasterKey,
  checkNode,
  checkOpenFiles,
  checkRenderer,
  checkStore,
  type Finding,
} from './doctor-checks.ts';
import { checkConditions } from './doctor-conditions.ts';
import { checkProxy, checkService } from './doctor-service.ts';
import { checkTimeZone } from './doctor-time-zone.ts';
import { harmless, type Style, wrap } from './terminal.ts';

export const doctor: Command = {
  name: 'doctor',
  summary: 'Checks the requirements of the service on this machine and says what to do',
  positionals: [],
  options: {},
  details: `Uses the same settings as the service. Whatever the data folder does not contain yet is tried in a temporary folder.
Exit code 1: a requirement of the service, or of the live invoices in its data, is not met.`,
  async run(_input, { terminal, config, parts }) {
    const failed = new Set<string>();
    for await (const finding of findings(config(), parts)) {
      if (finding.state === 'fails') failed.add(finding.subject);
      terminal.print(findingText(finding, terminal.width(), terminal.style));
    }
    terminal.print('');
    terminal.print(
      failed.size === 0
        ? 'The service can run on this machine.'
        : `Fix this before you start the service: ${[...failed].join(', ')}.`,
    );
    return failed.size === 0 ? 0 : 1;
  },
};

async function* findings(config: Config, parts: CommandParts): AsyncGenerator<Finding> {
  yield checkNode(process.versions.node);
  const diagnosis = await parts.diagnosis();
  const { openAdministration } = await parts.administration();
  if (config.role !== 'worker')
    yield checkOpenFiles(await diagnosis.diagnoseOpenFiles(), config.connections, config.trustedProxies > 0);
  const folder = await checkDataFolder(config.dataDir);
  yield* folder;
  // Without the folder neither the embedded store nor the certificate can be checked.
  if (folder.some(({ state }) => state === 'fails')) return;
  const trial = await mkdtemp(join(tmpdir(), 'fatoura-doctor-'));
  // The checks leave nothing behind: what the data folder does not contain yet is created in a temporary folder.
  const configFor = (name: string): Config =>
    existsSync(join(config.dataDir, name)) ? config : { ...config, dataDir: trial };
  const markTrial = (finding: Finding, name: string): Finding =>
    existsSync(join(trial, name))
      ? { ...finding, found: `${finding.found}; tested in a temporary folder, the first start creates it` }
      : finding;
  try {
    const store = await checkStore(configFor('db'), openAdministration);
    yield markTrial(store.finding, 'db');
    if (store.finding.state !== 'fails') yield await checkMasterKey(() => diagnosis.diagnoseMasterKey(configFor('db')));
    const identity = 'signing-test-identity.pem';
    // Without a store, which has its own finding, the needs are unknown.
    const needs = await diagnosis.diagnoseLive(configFor('db')).catch(() => []);
    const needOf = (condition: LiveNeed['condition']) => needs.find((each) => each.condition === condition) ?? null;
    const load = () => diagnosis.signingCertificate(configFor(identity));
    const certificate = await checkCertificate(load, needOf('certificate'), new Date());
    yield markTrial(certificate.finding, identity);
    yield checkClock(new Date(), { store: store.clock, validFrom: certificate.validFrom });
    yield checkTimeZone(await diagnosis.timeZoneData(), new Date());
    yield markTrial(await checkRenderer(() => diagnosis.diagnoseRenderer(configFor('chromium'))), 'chromium');
    yield* await checkAuthority(() => diagnosis.diagnoseAuthority(config), needOf('authority'), new Date());
    yield await checkMail(() => diagnosis.diagnoseMail(config));
    if (existsSync(join(config.dataDir, 'db')) || config.mongodbUrl)
      yield* await checkConditions(() => diagnosis.diagnoseConditions(config));
    yield await checkService(config, store.kind);
    if (config.role !== 'worker') yield checkProxy(config);
  } finally {
    await rm(trial, { recursive: true, force: true });
  }
}

const MARKS = { works: ['green', '✔'], warns: ['yellow', '!'], fails: ['red', '✘'] } as const;

const INDENT = 15;

/** Formats a finding as `✔ store        what was found`, followed by the advice on further lines. */
export function findingText({ subject, state, found, advice }: Finding, width: number, style: Style): string {
  const [colour, mark] = MARKS[state];
  const under = (text: string) => wrap(harmless(text), width - INDENT).replaceAll('\n', `\n${' '.repeat(INDENT)}`);
  const lines = [`${style(colour, mark)} ${subject.padEnd(INDENT - 2)}${under(found)}`];
  if (advice !== undefined) lines.push(' '.repeat(INDENT) + under(`→ ${advice}`));
  return lines.join('\n');
}
