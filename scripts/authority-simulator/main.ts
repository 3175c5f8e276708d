import { rename, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { endWithNpm } from '../../src/engine/parent-process.ts';
import { faultRule } from './control-commands.ts';
import { milliseconds } from './duration.ts';
import type { FaultRule } from './faults.ts';
import { DEFAULT_LIMITS, type Limits, PROFILES, type SimulatorOptions } from './options.ts';
import type { Simulator } from './simulator.ts';

const USAGE = 'Usage: npm run simulator -- [--profile polling|synchronous|callback] [--port P] [options]';

const HELP = `${USAGE}

An authority on this machine, which speaks the protocol of the live adapter. Prints the settings that start the service
against it. docs/simulator.md describes the faults and the control port.

Options:
  --profile NAME        polling (default), synchronous or callback
  --port P              HTTPS port (default 4443; 0 picks a free one)
  --control-port P      port of the control server on 127.0.0.1 (default: a free one)
  --host ADDRESS        address to listen on (default 127.0.0.1)
  --data-dir DIR        keys and ledger (default ./authority-simulator)
  --settings-file FILE  write the settings there as well, for ENV_FILE of the service
  --callback-url URL    where the profile callback announces decisions
  --decision-delay 2s   from a submission to its decision
  --slow-decision 10s   of the magic ICE 999000000000393
  --slow-receipt 60s    of the magic ICE 999000000000878
  --token-life 5m       of an access token
  --certificate-life 20d  of the client's and the signer's certificates; takes effect when they are made
  --client-key ALG      ES256 (default) or RS256; takes effect when the keys are made
  --max-document N      the longest document, bytes
  --limit NAME=N        a limit of the capabilities: ${Object.keys(DEFAULT_LIMITS).join(', ')}
  --no-limits           as good as none
  --faults RATE         a share of all calls fails, in every way that is harmless by the protocol
  --fault KIND[,k=v…]   a rule of the control port, such as lost-reply,rate=0.1 or stuck,number=2026-000012
  --seed N              of the faults by rate (default 1)
  --verify none         documents are neither verified nor examined
  --json                print one line with JSON when ready
  --quiet               do not print decisions, which it does on a terminal

Exit codes: 0 stopped, 1 could not start, 2 usage error.`;

/**
 * Not in the service's DATA_DIR: a backup would contain the authority's keys and ledger, and a restore would bring back
 * an old ledger.
 */
const DEFAULT_DATA_DIR = './authority-simulator';
const DEFAULT_PORT = '4443';
const NO_LIMITS: Limits = {
  submissions_per_minute: 1_000_000,
  lookups_per_minute: 1_000_000,
  lookups_per_submission_per_hour: 1_000_000,
  concurrent: 1_000,
};

endWithNpm();
const request = readCommandLine();
if (request !== null) await run(request);

interface Request {
  readonly options: SimulatorOptions;
  readonly json: boolean;
  readonly settingsFile: string | undefined;
}

async function run({ options, json, settingsFile }: Request): Promise<void> {
  let simulator: Simulator;
  // A signal during the start ends it as well.
  const stopped = new Promise<void>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
  try {
    // Loaded here: help and usage errors need little of it.
    const { startSimulator } = await import('./simulator.ts');
    simulator = await startSimulator(options);
    if (settingsFile !== undefined) await writeSettings(settingsFile, simulator.settings);
  } catch (error) {
    console.error(`The simulator could not start: ${messageOf(error)}`);
    process.exitCode = 1;
    return;
  }
  const { url, controlUrl, settings } = simulator;
  if (json) console.log(JSON.stringify({ url, control_url: controlUrl, settings }));
  else {
    for (const [name, value] of Object.entries(settings)) console.log(`export ${name}=${quoted(value)}`);
    console.log(`# ${options.profile} authority at ${url}, control at ${controlUrl}`);
  }
  await stopped;
  await simulator.close();
}

/** Replaces the file in one step, so that a service never reads half of it. */
async function writeSettings(file: string, settings: Simulator['settings']): Promise<void> {
  const lines = Object.entries(settings).map(([name, value]) => `${name}="${value}"\n`);
  await writeFile(`${file}.new`, lines.join(''), { mode: 0o600 });
  await rename(`${file}.new`, file);
}

/** Returns the options of the command line, or null when there is nothing to start (help or a usage error). */
function readCommandLine(): Request | null {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  try {
    const { values } = parseArgs({
      options: {
        profile: text,
        port: text,
        'control-port': text,
        host: text,
        'data-dir': text,
        'callback-url': text,
        'decision-delay': text,
        'slow-decision': text,
        'slow-receipt': text,
        'token-life': text,
        verify: text,
        'certificate-life': text,
        'settings-file': text,
        'client-key': text,
        'max-document': text,
        seed: text,
        faults: text,
        limit: { ...text, multiple: true },
        fault: { ...text, multiple: true },
        'no-limits': flag,
        json: flag,
        quiet: flag,
        help: { ...flag, short: 'h' },
      },
    });
    if (values.help) {
      console.log(HELP);
      return null;
    }
    return { options: optionsOf(values), json: values.json, settingsFile: values['settings-file'] };
  } catch (error) {
    console.error(`${messageOf(error)}\n${USAGE}`);
    process.exitCode = 2;
    return null;
  }
}

type Values = Readonly<Record<string, string | boolean | string[] | undefined>>;

function optionsOf(values: Values): SimulatorOptions {
  const given = <T>(name: string, read: (text: string) => T) => {
    const text = values[name];
    return typeof text === 'string' ? read(text) : undefined;
  };
  const number = (name: string) => given(name, (text) => integer(`--${name}`, text));
  const time = (name: string) => given(name, (text) => duration(`--${name}`, text));
  const list = (name: string) => (values[name] ?? []) as readonly string[];
  const rate = given(
    'faults',
    (text) => ({ kind: 'mixed', rate: z.coerce.number().min(0).max(1).parse(text) }) as const,
  );
  const limits = {
    ...(values['no-limits'] === true && NO_LIMITS),
    ...Object.fromEntries(list('limit').map(readLimit)),
  };
  const options = {
    profile: given('profile', (text) => oneOf('--profile', PROFILES, text)) ?? 'polling',
    host: given('host', String),
    port: integer('--port', given('port', String) ?? DEFAULT_PORT),
    controlPort: number('control-port'),
    dataDir: given('data-dir', String) ?? DEFAULT_DATA_DIR,
    callbackUrl: given('callback-url', (text) => z.url({ protocol: /^https?$/ }).parse(text)),
    seed: number('seed'),
    decisionDelay: time('decision-delay'),
    slowDecision: time('slow-decision'),
    slowReceipt: time('slow-receipt'),
    tokenLife: time('token-life'),
    certificateLife: time('certificate-life'),
    verify: given('verify', (text) => oneOf('--verify', ['full', 'none'] as const, text)),
    clientKey: given('client-key', (text) => oneOf('--client-key', ['ES256', 'RS256'] as const, text)),
    maxDocumentBytes: number('max-document'),
    limits,
    faults: [...list('fault').map(readRule), ...(rate === undefined ? [] : [rate])],
    onDecision: process.stdout.isTTY && values.quiet !== true && values.json !== true ? print : undefined,
  };
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function print({ id, status, dgiId }: { id: string; status: string; dgiId: string | null }): void {
  console.log(`${new Date().toISOString()} ${id} ${status}${dgiId === null ? '' : ` ${dgiId}`}`);
}

/** `lost-reply,rate=0.1,calls=submit+lookup` */
function readRule(text: string): FaultRule {
  const [kind, ...members] = text.split(',');
  const pairs = members.map((member) => {
    const [name = '', value = ''] = member.split('=');
    if (name === 'calls' || name === 'kinds') return [name, value.split('+')];
    const isText = ['submission', 'number', 'code', 'delay', 'what'].includes(name);
    return [name, isText ? value : JSON.parse(value)];
  });
  return faultRule.parse({ kind, ...Object.fromEntries(pairs) });
}

function readLimit(text: string): [string, number] {
  const [name = '', value = ''] = text.split('=');
  oneOf('--limit', Object.keys(DEFAULT_LIMITS), name);
  return [name, integer(`--limit ${name}`, value)];
}

function integer(option: string, text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new Error(`${option}: ${text} is not a number`);
  return Number(text);
}

function duration(option: string, text: string): number {
  const value = milliseconds(text);
  if (!(value >= 0)) throw new Error(`${option}: ${text} is not a duration such as 250ms, 2s, 5m`);
  return value;
}

function oneOf<T extends string>(option: string, names: readonly T[], text: string): T {
  const found = names.find((name) => name === text);
  if (found === undefined) throw new Error(`${option}: ${text} is not one of ${names.join(', ')}`);
  return found;
}

/** For a POSIX shell. */
function quoted(value: string): string {
  return /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}

function messageOf(error: unknown): string {
  if (error instanceof z.ZodError) return z.prettifyError(error);
  return error instanceof Error ? error.message : String(error);
}
