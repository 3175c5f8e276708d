import { spawnSync } from 'node:child_process';

/** A program that keeps secrets. It gets them by its standard input: other users see the arguments of processes. */
interface Tool {
  readonly command: string;
  readonly store: (profile: string) => readonly string[];
  readonly input: (profile: string, key: string) => string;
  readonly read: (profile: string) => readonly string[];
  readonly remove: (profile: string) => readonly string[];
}

const TOOLS: Partial<Record<NodeJS.Platform, Tool>> = {
  linux: {
    command: 'secret-tool',
    store: (profile) => ['store', `--label=Fatoura ${profile}`, 'service', 'fatoura', 'profile', profile],
    input: (_profile, key) => key,
    read: (profile) => ['lookup', 'service', 'fatoura', 'profile', profile],
    remove: (profile) => ['clear', 'service', 'fatoura', 'profile', profile],
  },
  darwin: {
    command: 'security',
    store: () => ['-i'],
    input: (profile, key) => `add-generic-password -U -s fatoura -a ${profile} -w ${key}\n`,
    read: (profile) => ['find-generic-password', '-s', 'fatoura', '-a', profile, '-w'],
    remove: (profile) => ['delete-generic-password', '-s', 'fatoura', '-a', profile],
  },
};

/** A keyring that is locked asks its user. Without one it would wait for ever. */
const TIMEOUT_MS = 30_000;

/** Stores a key in the system's keyring. @returns false if there is none, or if it does not take it */
export function storeInKeyring(profile: string, key: string): boolean {
  const tool = TOOLS[process.platform];
  if (!tool || run(tool.command, tool.store(profile), tool.input(profile, key)) === null) return false;
  // Some of these programs succeed without a keyring.
  return readFromKeyring(profile) === key;
}

/** Reads a key from the system's keyring; null if it does not have it. */
export function readFromKeyring(profile: string): string | null {
  const tool = TOOLS[process.platform];
  return tool ? run(tool.command, tool.read(profile))?.trim() || null : null;
}

export function removeFromKeyring(profile: string): void {
  const tool = TOOLS[process.platform];
  if (tool) run(tool.command, tool.remove(profile));
}

/** Runs a program. @returns its output; null if it is not there or fails */
function run(command: string, args: readonly string[], input = ''): string | null {
  const { status, stdout } = spawnSync(command, args, { input, encoding: 'utf8', timeout: TIMEOUT_MS });
  return status === 0 ? stdout : null;
}
