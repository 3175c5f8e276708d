import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { type Command, InputError, type ParsedArguments, UsageError } from '../../../src/cli/command.ts';
import { httpUrl } from '../../../src/cli/service-address.ts';
import { columns, harmless } from '../../../src/cli/terminal.ts';
import { parseToken } from '../../../src/domain/api-key/api-key.ts';
import { Fatoura } from '../../typescript/src/index.ts';
import { CONNECTION_OPTIONS, PROFILE_NAME } from './connection.ts';
import { removeFromKeyring, storeInKeyring } from './keyring.ts';
import { profilesFile, readProfiles, writeProfiles } from './profiles.ts';

/** The keys of the service: letters, digits, `_` and `-`. */
const KEY = /^sk_(test|live)_[\w-]{1,400}$/;

export const login: Command = {
  name: 'login',
  summary: 'Keeps the address of a service and a key as a profile',
  positionals: [],
  options: {
    url: { ...CONNECTION_OPTIONS.url, description: 'Address of the service; default: FATOURA_URL' },
    profile: { value: 'NAME', description: 'Name of the profile; default: test or live, by the key' },
    file: { description: 'Keep the key in a file (mode 0600), also where the system has a keyring' },
    json: { description: 'Print an object' },
  },
  details: `The key is asked for, or read from standard input or FATOURA_KEY: never from an argument, which other users see. It is
tried before it is kept: in the system's keyring (secret-tool on Linux, the keychain of macOS), otherwise in a file that
only you can read. The profile is used by later commands without --profile.`,
  async run(input, { terminal }) {
    const url = httpUrl(input.find('url') ?? process.env.FATOURA_URL ?? '', '--url').replace(/\/+$/, '');
    const key = (process.env.FATOURA_KEY ?? (await askedKey())).trim();
    const environment = parseToken(key)?.environment;
    if (!KEY.test(key) || !environment) throw new InputError('The key must be a secret key: sk_test_… or sk_live_….');
    const name = input.find('profile') ?? environment;
    if (!PROFILE_NAME.test(name))
      throw new UsageError('--profile must be letters, digits, "_", "." and "-", at most 64 characters');
    await new Fatoura(key, { baseUrl: url, maxRetries: 1 }).invoices.list({ limit: 1 }).page();
    const isInKeyring = !input.has('file') && storeInKeyring(name, key);
    const { profiles } = readProfiles();
    writeProfiles({ current: name, profiles: { ...profiles, [name]: { url, key: isInKeyring ? null : key } } });
    // The key of a former login would stay there, where no command looks for it any more.
    if (!isInKeyring && profiles[name]?.key === null) removeFromKeyring(name);
    const kept = isInKeyring ? 'keyring' : profilesFile();
    terminal.print(
      input.has('json')
        ? JSON.stringify({ profile: name, url, environment, kept })
        : `Logged in to ${url} (${environment}) as profile ${name}; the key is in ${isInKeyring ? "the system's keyring" : kept}.`,
    );
    return 0;
  },
};

export const logout: Command = {
  name: 'logout',
  summary: 'Forgets a profile and its key',
  positionals: [],
  options: { profile: CONNECTION_OPTIONS.profile, json: { description: 'Print an object' } },
  details: 'The key stays valid. To end it, revoke it on the page of keys.',
  async run(input, { terminal }) {
    const name = namedOf(input);
    const { current, profiles } = readProfiles();
    const { [name]: forgotten, ...others } = profiles;
    if (!forgotten) throw new UsageError(`there is no profile '${name}'`);
    if (forgotten.key === null) removeFromKeyring(name);
    writeProfiles({ current: current === name ? (Object.keys(others)[0] ?? null) : current, profiles: others });
    terminal.print(input.has('json') ? JSON.stringify({ profile: name }) : `Profile ${name} is forgotten.`);
    return 0;
  },
};

export const profiles: Command = {
  name: 'profiles',
  summary: 'Lists the profiles of login',
  positionals: [],
  options: { names: { description: 'Print the names alone' }, json: { description: 'Print an array' } },
  async run(input, { terminal }) {
    const { current, profiles: known } = readProfiles();
    if (input.has('names') && !input.has('json')) {
      for (const name of Object.keys(known)) terminal.print(name);
      return 0;
    }
    const rows = Object.entries(known).map(([name, { url, key }]) => {
      return { name, url, current: name === current, kept: key === null ? 'keyring' : 'file' };
    });
    if (input.has('json')) terminal.print(JSON.stringify(rows));
    else if (rows.length === 0) terminal.remark('There is no profile: fatoura login');
    else
      terminal.print(
        columns(rows.map((row) => [row.current ? '*' : ' ', row.name, harmless(row.url), `key in the ${row.kept}`])),
      );
    return 0;
  },
};

function namedOf(input: ParsedArguments): string {
  const name = input.find('profile') ?? readProfiles().current;
  if (name === null) throw new UsageError('there is no profile');
  return name;
}

/** Asks for the key without showing it; where nobody can be asked, reads it. */
async function askedKey(): Promise<string> {
  if (!process.stdin.isTTY) return textOf(process.stdin);
  process.stderr.write('Secret key (it is not shown): ');
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return await lines.question('');
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}
