import { createSecretKey, hkdfSync, randomBytes } from 'node:crypto';
import { type DataKey, KEY_PURPOSES, type KeyPurpose, soleKey } from '../data-keys.ts';
import { createSecretBox } from '../secret-box.ts';

/** A key as it is stored. */
export interface RingKey {
  /** See {@link DataKey}. */
  readonly number: number;
  readonly purpose: KeyPurpose;
  /** The key, sealed by the master key for its number and purpose. */
  readonly sealed: string;
  readonly createdAt: Date;
  readonly usedFrom: Date;
  readonly endsAt: Date | null;
  /** Whether its master key was given up as lost: it opens nothing until that key is found. */
  readonly lost: boolean;
}

/**
 * All keys of the installation (docs/decisions/0073). One document, so that each change is one atomic write: a process
 * that is killed leaves the ring before it or after it.
 */
export interface KeyRing {
  /** Grows with each change. */
  readonly revision: number;
  /** The mark of the master key that seals the keys; null: the next start adopts its own. */
  readonly master: string | null;
  /** In the order of their numbers. */
  readonly keys: readonly RingKey[];
}

export interface KeyRingStore {
  read(): Promise<KeyRing | null>;
  /** Stores the ring if there is none. @returns the stored one, the same for all processes that start at once */
  keep(ring: KeyRing): Promise<KeyRing>;
  /** Replaces the ring that has the revision before that of `ring`. @returns whether it was still there */
  replace(ring: KeyRing): Promise<boolean>;
  /** Has the next start adopt its master key, whatever it is. */
  forgetMaster(): Promise<void>;
}

export type OpenedKeys = Readonly<Record<KeyPurpose, readonly DataKey[]>>;

/** None of the given master keys seals the ring. The caller, which knows where they came from, words the message. */
export class WrongMasterKey extends Error {
  override readonly name = 'WrongMasterKey';
}

/** Keys of the ring at most. */
const MOST_KEYS = 200;
/** From the moment at which a key is stored until it is used: every process has it by then, clocks included. */
export const KNOWN_MS = 60_000;

/** Identifies a master key: derived from it (HKDF-SHA-256, 32 bytes in hex) and used for nothing else. */
export function masterKeyMark(masterKey: Uint8Array): string {
  return Buffer.from(hkdfSync('sha256', masterKey, new Uint8Array(), 'mark:master-key', 32)).toString('hex');
}

/** A new installation's ring: its keys have nothing to do with the master key. */
export function newRing(master: Uint8Array, now: Date): KeyRing {
  const keys = KEY_PURPOSES.map((purpose, place) => keyOf(master, place + 1, purpose, randomBytes(32), now, now));
  return { revision: 1, master: masterKeyMark(master), keys };
}

/**
 * The keys of the ring, newest first; without those that are lost.
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

/** How a ring is sealed by another master key. */
export interface Sealing {
  /** Master keys that may have sealed the keys so far. */
  readonly openers: readonly Uint8Array[];
  readonly master: Uint8Array;
  readonly now: Date;
  /**
   * True: keys that cannot be opened are given up, and a purpose without any other key gets a new one. False: they are
   * an error.
   */
  readonly mayLose: boolean;
}

/**
 * The ring sealed by another master key. Keys that were lost and open now are back.
 * @returns null if nothing is to be done
 * @throws {WrongMasterKey} when no opener seals the ring and none of it may be lost
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
 * The ring with a new key, which is used from {@link KNOWN_MS} after `now`.
 * @param earlierEndAt when the earlier keys of the purpose end, unless they end before; null: as they are
 * @throws when a new key of the purpose is not used yet, or there are too many
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
 * The ring in which a data key ends at another time.
 * @param endsAt null: never
 * @throws when there is no such key, or nothing replaces it yet
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
 * Changes the stored ring, also beside others who do.
 * @param change gets the ring as it is stored, and may be called again; null: there is nothing to do
 * @returns the ring after it
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

/** @throws when another master key sealed it, or it is damaged */
function unsealed(key: RingKey, master: Uint8Array): Uint8Array {
  return Buffer.from(boxOf(master).open(key.sealed, ownerOf(key)), 'base64url');
}

function boxOf(master: Uint8Array) {
  return createSecretBox(soleKey(master), 'data-key');
}

/** A sealed key opens in its own place only. */
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
      // The next one may fit.
    }
  }
  return null;
}
