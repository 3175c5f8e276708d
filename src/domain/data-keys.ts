import { createSecretKey, type KeyObject } from 'node:crypto';

/** The purposes of keys: `data` derives issued values and seals stored secrets, `sessions` is for sessions. */
export const KEY_PURPOSES = ['data', 'sessions'] as const;
export type KeyPurpose = (typeof KEY_PURPOSES)[number];

/** A key that the installation derives from or seals with; 32 random bytes. */
export interface DataKey {
  /** Its number among all keys of the installation, from 1; a later key has a greater one. */
  readonly number: number;
  readonly secret: KeyObject;
  /** From this time on the key is in use, until a later key is. */
  readonly usedFrom: Date;
  /** From then on no value derived from the key is accepted; null: no end. Secrets that it sealed stay readable. */
  readonly endsAt: Date | null;
}

/** The keys of one purpose as they are now: they change while the process runs (docs/decisions/0073). */
export interface DataKeys {
  /** Returns the key that derives and seals now. */
  newest(): DataKey;
  /** Keys whose derived values are accepted, newest first: also a key that other processes may use slightly earlier. */
  accepted(): readonly DataKey[];
  /** Returns all keys, newest first: each of them may have sealed stored secrets. */
  all(): readonly DataKey[];
}

/**
 * @param current the keys of one purpose, newest first; called each time, so it must be cheap
 * @throws (of the functions of what is returned) when there is none in use
 */
export function dataKeys(current: () => readonly DataKey[]): DataKeys {
  return {
    newest() {
      const now = Date.now();
      const keys = current();
      const used = keys.find(({ usedFrom }) => usedFrom.getTime() <= now) ?? keys.at(-1);
      if (!used) throw new Error('there is no key');
      return used;
    },
    accepted() {
      const now = Date.now();
      const keys = current();
      const isOver = ({ endsAt }: DataKey) => endsAt !== null && endsAt.getTime() <= now;
      return keys.some(isOver) ? keys.filter((key) => !isOver(key)) : keys;
    },
    all: current,
  };
}

/** One key that never changes. @param bytes at least 32 random ones */
export function soleKey(bytes: Uint8Array): DataKeys {
  const keys = [{ number: 1, secret: createSecretKey(bytes), usedFrom: new Date(0), endsAt: null }];
  return dataKeys(() => keys);
}
