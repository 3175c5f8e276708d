import { join } from 'node:path';
import { type DataKey, type DataKeys, dataKeys, KEY_PURPOSES, type KeyPurpose } from '../domain/data-keys.ts';
import {
  changeRing,
  type KeyRing,
  type KeyRingStore,
  newRing,
  type OpenedKeys,
  openRing,
  sealedBy,
} from '../domain/installation/key-ring.ts';
import { every } from '../domain/kit/every.ts';
import { SetupError } from '../domain/setup-error.ts';
import {
  KEY_FILE,
  type MasterKey,
  type MasterKeySettings,
  makeKeyFile,
  readMasterKeys,
  wrongKeyMessage,
} from './master-key.ts';
import type { LogFailure } from './outages.ts';
import type { Runtime } from './runtime.ts';

/** The keys of the data that this process has opened. */
export interface ProcessKeys extends Readonly<Record<KeyPurpose, DataKeys>> {
  /** Applies changes of the stored key ring. @returns a text about the change; null if nothing changed */
  refresh(): Promise<{ readonly level: 'info' | 'error'; readonly text: string } | null>;
  /** Returns why this process must not answer requests; null if it may. */
  trouble(): string | null;
}

/** Pause between two reads of the key ring, milliseconds: a fraction of `KNOWN_MS`. */
const LOOK_MS = 5000;

/**
 * Opens the keys of the data with the master key of this process. The first start creates them, and a key file in
 * DATA_DIR unless MASTER_KEY is set.
 * @throws when the master key is not the right one or cannot be read; the message says what to do. Nothing is written
 * then
 */
export async function openDataKeys(settings: MasterKeySettings, store: KeyRingStore): Promise<ProcessKeys> {
  const { ring, master } = await openStoredRing(settings, store);
  return followRing(settings, store, ring, openRing(ring, master.bytes));
}

/** Checks the key ring for changes while the process runs. */
export function watchDataKeys(
  { log, closing }: Pick<Runtime, 'log' | 'closing'>,
  keys: ProcessKeys,
  logFailure: LogFailure,
): void {
  const look = async () => {
    const change = await keys.refresh();
    if (change) log[change.level](change.text);
  };
  const stop = every(LOOK_MS, look, (err) => logFailure('warn', 'the keys of the data could not be read again', err));
  // Not awaited, so that an unavailable store does not delay a shutdown.
  closing.add(() => void stop());
}

/** Checks that a service could start with the configured key; writes nothing. @throws as {@link openDataKeys} */
export async function checkMasterKey(settings: MasterKeySettings, store: KeyRingStore): Promise<MasterKey | null> {
  const keys = await readMasterKeys(settings);
  const ring = await store.read();
  if (!ring || ring.master === null) return keys[0] ?? null;
  const master = await masterOf(ring.master, keys, settings);
  openRing(ring, master.bytes);
  return master;
}

/** Returns the master key with this mark. @throws when it is not among `keys`; the message says what to do */
export async function masterOf(
  mark: string,
  keys: readonly MasterKey[],
  settings: MasterKeySettings,
): Promise<MasterKey> {
  const found = keys.find((key) => key.mark === mark);
  if (!found) throw new SetupError(await wrongKeyMessage(settings, mark));
  return found;
}

async function openStoredRing(
  settings: MasterKeySettings,
  store: KeyRingStore,
): Promise<{ ring: KeyRing; master: MasterKey }> {
  const known = await readMasterKeys(settings);
  const stored = await store.read();
  if (stored && stored.master !== null) return { ring: stored, master: await masterOf(stored.master, known, settings) };
  const master = known[0] ?? (await makeKeyFile(join(settings.dataDir, KEY_FILE)));
  const ring = stored ? await adopted(store, [master, ...known]) : await store.keep(newRing(master.bytes, new Date()));
  return { ring, master: await masterOf(ring.master ?? '', [master, ...known], settings) };
}

/**
 * Seals a ring whose master key was given up with the first of these keys. Another process may do so at the same time.
 */
function adopted(store: KeyRingStore, keys: readonly MasterKey[]): Promise<KeyRing> {
  const [{ bytes: master }] = keys as [MasterKey];
  const openers = keys.map(({ bytes }) => bytes);
  return changeRing(store, (ring) =>
    ring.master === null ? sealedBy(ring, { openers, master, now: new Date(), mayLose: true }) : null,
  );
}

function followRing(settings: MasterKeySettings, store: KeyRingStore, first: KeyRing, keys: OpenedKeys): ProcessKeys {
  let seen = first.revision;
  let opened = keys;
  /** Keys of the ring that are not lost, but that this process cannot open. */
  let unknown: KeyRing['keys'] = [];
  return {
    data: dataKeys(() => opened.data),
    sessions: dataKeys(() => opened.sessions),
    async refresh() {
      const ring = await store.read();
      if (!ring || ring.revision === seen) return null;
      const master = (await readMasterKeys(settings)).find(({ mark }) => mark === ring.master);
      if (master) {
        opened = reusing(opened, openRing(ring, master.bytes));
        unknown = [];
      } else {
        opened = withTimesOf(ring, opened);
        unknown = ring.keys.filter(({ number, lost }) => !lost && !numbersOf(opened).includes(number));
      }
      seen = ring.revision;
      if (master) return { level: 'info', text: `the keys of the data are those of revision ${seen}` };
      const text = `the keys of the data are sealed by a master key that this process does not have: restart it with the present MASTER_KEY. It goes on with the keys it has${unknown.length > 0 ? ', without new ones' : ''}`;
      return { level: 'error', text };
    },
    trouble() {
      const now = new Date();
      return unknown.some(({ usedFrom }) => usedFrom <= now)
        ? 'a key of the data is in use that this process cannot open: it needs the present MASTER_KEY'
        : null;
    },
  };
}

function numbersOf(opened: OpenedKeys): number[] {
  return KEY_PURPOSES.flatMap((purpose) => opened[purpose].map(({ number }) => number));
}

/**
 * Returns the new keys with the existing secret objects where these are equal, because callers cache what they derived
 * from the objects.
 */
function reusing(before: OpenedKeys, now: OpenedKeys): OpenedKeys {
  return mapped(now, (key, purpose) => {
    const same = before[purpose].find(({ number, secret }) => number === key.number && secret.equals(key.secret));
    return same ? { ...key, secret: same.secret } : key;
  });
}

function withTimesOf(ring: KeyRing, opened: OpenedKeys): OpenedKeys {
  return mapped(opened, (key) => {
    const { usedFrom = key.usedFrom, endsAt = key.endsAt } =
      ring.keys.find(({ number }) => number === key.number) ?? {};
    return { ...key, usedFrom, endsAt };
  });
}

function mapped(opened: OpenedKeys, change: (key: DataKey, purpose: KeyPurpose) => DataKey): OpenedKeys {
  const of = (purpose: KeyPurpose) => opened[purpose].map((key) => change(key, purpose));
  return { data: of('data'), sessions: of('sessions') };
}
