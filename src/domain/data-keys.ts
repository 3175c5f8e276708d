import { createSecretKey, type KeyObject } from 'node:crypto';

/** What a key is for: `data` derives what is given out and seals what is stored, `sessions` is of people's sessions. */
export const KEY_PURPOSES = ['data', 'sessions'] as const;
export type KeyPurpose = (typeof KEY_PURPOSES)[number];

/** A key that the installation derives from or seals with; 32 random bytes. */
export interface DataKey {
  /** Its number among all keys of the installation, from 1; a later key has a greater one. */
  readonly number: number;
  readonly secret: KeyObject;
  /** From then on it is the one that is used, until a later key is. */
  readonly usedFrom: Date;
  /** From then on nothing that was derived from it is accepted; null: never. What it sealed opens for ever. */
  readonly endsAt: Date | null;
}

/** The keys of one purpose as they are now: they change while the process runs (docs/decisions/0073). */
export interface DataKeys {
  /** What is derived and sealed now is derived and sealed with it. */
  newest(): DataKey;
  /** Those whose derived values are accepted, newest first: also one that other processes may use a moment earlier. */
  accepted(): readonly DataKey[];
  /** All, newest first: with each of them something may have been sealed. */
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
