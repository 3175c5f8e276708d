import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import type { DataKey, DataKeys } from './data-keys.ts';

/**
 * Encrypts secrets at rest. A sealed text opens only with a key of the ring it was sealed with and for the same owner.
 */
export interface SecretBox {
  /** @param ownerId owner of the secret: the sealed text does not open for another owner */
  seal(secret: string, ownerId: string): string;
  /** @throws {Error} when it was sealed with another key or for another owner, or is damaged */
  open(sealed: string, ownerId: string): string;
  /** Whether a text was sealed with the key that is used now. */
  isNewest(sealed: string): boolean;
}

/** The purpose of the box with the signing secrets of webhook endpoints. */
export const ENDPOINT_SECRETS = 'webhook-endpoint';

const VERSION = 1;
const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + KEY_ID_BYTES;

/** The values that are derived from one key for one purpose. */
interface Sealing {
  readonly key: KeyObject;
  readonly header: Buffer;
}

/**
 * AES-256-GCM with keys derived from those of the ring (HKDF-SHA-256). A sealed text is the base64url of version (1
 * byte), key id (4), nonce (12), ciphertext and tag (16); the header and the owner are authenticated.
 * @param keys the newest seals, all open
 * @param purpose is part of the key derivation: different purposes have different keys
 */
export function createSecretBox(keys: DataKeys, purpose: string): SecretBox {
  const derived = new WeakMap<KeyObject, Sealing>();
  function sealingOf({ secret }: DataKey): Sealing {
    const known = derived.get(secret);
    if (known) return known;
    const derive = (info: string, length: number) =>
      Buffer.from(hkdfSync('sha256', secret, new Uint8Array(), info, length));
    const made = {
      key: createSecretKey(derive(`seal:${purpose}`, 32)),
      header: Buffer.concat([Buffer.of(VERSION), derive(`key-id:${purpose}`, KEY_ID_BYTES)]),
    };
    derived.set(secret, made);
    return made;
  }
  const boundTo = (header: Buffer, ownerId: string) => Buffer.concat([header, Buffer.from(`${purpose}:${ownerId}`)]);
  const headerOf = (bytes: Buffer) => bytes.subarray(0, HEADER_BYTES);
  return {
    seal(secret, ownerId) {
      const { key, header } = sealingOf(keys.newest());
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(boundTo(header, ownerId));
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return Buffer.concat([header, nonce, text, cipher.getAuthTag()]).toString('base64url');
    },
    open(sealed, ownerId) {
      const bytes = Buffer.from(sealed, 'base64url');
      const fitting = keys
        .all()
        .map(sealingOf)
        .find(({ header }) => headerOf(bytes).equals(header));
      if (!fitting)
        throw new Error(`the secret of ${ownerId} was sealed with a key that is not here, or in another format`);
      const nonce = bytes.subarray(HEADER_BYTES, HEADER_BYTES + NONCE_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', fitting.key, nonce, { authTagLength: TAG_BYTES })
        .setAAD(boundTo(fitting.header, ownerId))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      const text = decipher.update(bytes.subarray(HEADER_BYTES + NONCE_BYTES, -TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    },
    isNewest: (sealed) => headerOf(Buffer.from(sealed, 'base64url')).equals(sealingOf(keys.newest()).header),
  };
}
