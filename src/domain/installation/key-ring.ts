import { createSecretKey, hkdfSync, randomBytes } from 'node:crypto';
import { type DataKey, KEY_PURPOSES, type KeyPurpose, soleKey } from '../data-keys.ts';
import { createSecretBox } from '../secret-box.ts';

/** A key as stored. */
export interface RingKey {
  /** See {@link DataKey}. */
  readonly number: number;
  readonly purpose: KeyPurpose;
  /** The key, encrypted with the master key for its number and purpose. */
  readonly sealed: string;
  readonly createdAt: Date;
  readonly usedFrom: Date;
  readonly endsAt: Date | null;
  /** Whether its master key was declared lost. The key cannot be opened until that master key is found. */
  readonly lost: boolean;
}

/**
 * All keys of the installation (docs/decisions/0073). They are one document, so that each change is one atomic write,
 * and a process that is killed leaves either the ring before the change or the one after it.
 */
export interface KeyRing {
  /** Increases with each change. */
  readonly revision: number;
  /** The mark of the master key that seals the keys; null if the next start adopts the one that it is given. */
  readonly master: string | null;
  /** The keys in the order of their numbers. */
  readonly keys: readonly RingKey[];
}

export interface KeyRingStore {
  read(): Promise<KeyRing | null>;
  /** Stores the ring if there is none. @returns the stored ring, the same for all processes that start at once */
  keep(ring: KeyRing): Promise<KeyRing>;
  /** Replaces the ring of the previous revision. @returns whether that ring was still stored */
  replace(ring: KeyRing): Promise<boolean>;
  /** Makes the next start adopt the master key that it is given. */
  forgetMaster(): Promise<void>;
}

export type OpenedKeys = Readonly<Record<KeyPurpose, readonly DataKey[]>>;

/** None of the given master keys seals the ring. The caller knows where they came from and writes the message. */
export class WrongMasterKey extends Error {
  override readonly name = 'WrongMasterKey';
}

/** Maximum number of keys in the ring. */
const MOST_KEYS = 200;
/** Time between storing a key and using it, milliseconds. By then every process has read it, even if clocks differ. */
export const KNOWN_MS = 60_000;

/**
 * Computes a mark that identifies a master key. It is derived from the key (HKDF-SHA-256, 32 bytes in hex) and used for
 * nothing else.
 */
export function masterKeyMark(masterKey: Uint8Array): string {
  return Buffer.from(hkdfSync('sha256', masterKey, new Uint8Array(), 'mark:master-key', 32)).toString('hex');
}

/** Makes the ring of a new installation. Its keys are random and not derived from the master key. */
export function newRing(master: Uint8Array, now: Date): KeyRing {
  const keys = KEY_PURPOSES.map((purpose, place) => keyOf(master, place + 1, purpose, randomBytes(32), now, now));
  return { revision: 1, master: masterKeyMark(master), keys };
}

/**
 * Opens the keys of the ring, newest first, except lost ones.
 * @throws {WrongMasterKey} when another master key seals it
 * @throws {Error} when a key is damaged
 */
export function openRing(ring: KeyRing, master: Uint8Array): OpenedKeys {
  if (ring.master !== masterKeyMark(master)) throw new WrongMasterKey();
  const opened: Record<KeyPurpose, DataKey[]> = { data: [], sessions: [] };
  for (const key of ring.keys.filter(({ lost }) => !lost)) {
    const { number, usedFrom, endsAt } = key;
    opened[key.purpose].unshift({ number, usedFrom, endsAt, secret: createSecretKey(unsealed(key, master)) });
  }
  const missing = KEY_PURPOSES.find((purpose) => opened[purpose].length === 0);
  if (missing) throw new Error(`the key ring has no key for ${missing}`);
  return opened;
}

/** The parameters for sealing a ring with another master key. */
export interface Sealing {
  /** Master keys that may have sealed the keys so far. */
  readonly openers: readonly Uint8Array[];
  readonly master: Uint8Array;
  readonly now: Date;
  /**
   * If true, keys that cannot be opened are marked as lost, and a purpose without any other key gets a new one. If
   * false, they are an error.
   */
  readonly mayLose: boolean;
}

/**
 * Seals the ring with another master key. Lost keys that can be opened now are no longer lost.
 * @returns null if there is nothing to change
 * @throws {WrongMasterKey} when no opener seals the ring and no key may be lost
 */
export function sealedBy(ring: KeyRing, { openers, master, now, mayLose }: Sealing): KeyRing | null {
  const mark = masterKeyMark(master);
  if (!mayLose && !openers.some((opener) => masterKeyMark(opener) === ring.master)) throw new WrongMasterKey();
  const keys = ring.keys.map((key) => {
    const bytes = firstOf(openers, (opener) => unsealed(key, opener));
    if (bytes) return { ...key, sealed: sealed(master, key, bytes), lost: false };
    if (!key.lost && !mayLose) throw new Error(`the key ${key.number} of the ring is damaged`);
    return { ...key, lost: true };
  });
  const regained = keys.some(({ lost }, place) => !lost && ring.keys[place]?.lost);
  if (ring.master === mark && !regained) return null;
  for (const purpose of KEY_PURPOSES)
    if (keys.every((key) => key.lost || key.purpose !== purpose))
      keys.push(keyOf(master, nextNumber(keys), purpose, randomBytes(32), now, now));
  return { revision: ring.revision + 1, master: mark, keys };
}

/**
 * Adds a new key to the ring. It is used from {@link KNOWN_MS} after `now`.
 * @param earlierEndAt when the earlier keys of the purpose end, unless they end before; null: unchanged
 * @throws when a new key of the purpose is not used yet, or there are too many keys
 */
export function withNewKey(
  ring: KeyRing,
  purpose: KeyPurpose,
  {
    master,
    now,
    earlierEndAt,
  }: { readonly master: Uint8Array; readonly now: Date; readonly earlierEndAt: Date | null },
): KeyRing {
  if (ring.master !== masterKeyMark(master)) throw new WrongMasterKey();
  const waiting = ring.keys.find((key) => key.purpose === purpose && key.usedFrom > now);
  if (waiting)
    throw new Error(
      `there is a new key already, ${waiting.number}, which is used from ${waiting.usedFrom.toISOString()}`,
    );
  if (ring.keys.length >= MOST_KEYS) throw new Error(`the ring has ${MOST_KEYS} keys, which is the maximum`);
  const keys = ring.keys.map((key) =>
    key.purpose !== purpose || earlierEndAt === null || (key.endsAt && key.endsAt < earlierEndAt)
      ? key
      : { ...key, endsAt: earlierEndAt },
  );
  const usedFrom = new Date(now.getTime() + KNOWN_MS);
  keys.push(keyOf(master, nextNumber(keys), purpose, randomBytes(32), now, usedFrom));
  return { ...ring, revision: ring.revision + 1, keys };
}

/**
 * Changes when a data key of the ring ends.
 * @param endsAt null: never
 * @throws when there is no such key, or no other key replaces it yet
 */
export function withEnd(ring: KeyRing, number: number, endsAt: Date | null, now: Date): KeyRing {
  const key = ring.keys.find((each) => each.number === number && each.purpose === 'data');
  if (!key) throw new Error(`the ring has no data key ${number}`);
  const isReplaced = ring.keys.some(
    (later) => later.purpose === 'data' && later.number > number && later.usedFrom <= now && !later.lost,
  );
  if (!isReplaced && endsAt !== null)
    throw new Error(`the data key ${number} is in use: run data-keys rotate first, and wait until the new one is used`);
  return {
    ...ring,
    revision: ring.revision + 1,
    keys: ring.keys.map((each) => (each === key ? { ...each, endsAt } : each)),
  };
}

/**
 * Changes the stored ring. Concurrent changes are safe.
 * @param change receives the stored ring, and may be called again; returns null if there is nothing to change
 * @returns the ring after the change
 */
export async function changeRing(
  store: KeyRingStore,
  change: (ring: KeyRing) => KeyRing | null | Promise<KeyRing | null>,
): Promise<KeyRing> {
  for (;;) {
    const ring = await store.read();
    if (!ring) throw new Error('This data has no keys yet: start the service first.');
    const changed = await change(ring);
    if (changed === null) return ring;
    if (await store.replace(changed)) return changed;
  }
}

function keyOf(
  master: Uint8Array,
  number: number,
  purpose: KeyPurpose,
  bytes: Uint8Array,
  createdAt: Date,
  usedFrom: Date,
): RingKey {
  const sealedBytes = sealed(master, { number, purpose }, bytes);
  return { number, purpose, sealed: sealedBytes, createdAt, usedFrom, endsAt: null, lost: false };
}

type Place = Pick<RingKey, 'number' | 'purpose'>;

function sealed(master: Uint8Array, place: Place, bytes: Uint8Array): string {
  return boxOf(master).seal(Buffer.from(bytes).toString('base64url'), ownerOf(place));
}

/** Opens a key. @throws when another master key sealed it, or it is damaged */
function unsealed(key: RingKey, master: Uint8Array): Uint8Array {
  return Buffer.from(boxOf(master).open(key.sealed, ownerOf(key)), 'base64url');
}

function boxOf(master: Uint8Array) {
  return createSecretBox(soleKey(master), 'data-key');
}

/** Binds a sealed key to its place in the ring, outside of which it cannot be opened. */
function ownerOf({ number, purpose }: Place): string {
  return `${purpose}:${number}`;
}

function nextNumber(keys: readonly Place[]): number {
  return Math.max(0, ...keys.map(({ number }) => number)) + 1;
}

function firstOf<From, To>(all: readonly From[], of: (one: From) => To): To | null {
  for (const one of all) {
    try {
      return of(one);
    } catch {
      // Another master key may fit.
    }
  }
  return null;
}
