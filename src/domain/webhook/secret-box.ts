import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, randomBytes } from 'node:crypto';

/** Encrypts secrets at rest. What is sealed opens only with the same key and for the same owner. */
export interface SecretBox {
  /** @param ownerId whose secret it is: a sealed text that is copied to another owner does not open */
  seal(secret: string, ownerId: string): string;
  /** @throws {Error} when it was sealed with another key, for another owner, or is damaged */
  open(sealed: string, ownerId: string): string;
}

const VERSION = 1;
const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + KEY_ID_BYTES;

/**
 * AES-256-GCM under a key derived from the master key (HKDF-SHA-256). Sealed: base64url of version (1 byte), key id (4), nonce (12),
 * ciphertext, tag (16); the header and the owner are authenticated too.
 * @param purpose keys of different purposes differ
 */
export function createSecretBox(masterKey: Uint8Array, purpose: string): SecretBox {
  const derive = (info: string, length: number) =>
    Buffer.from(hkdfSync('sha256', masterKey, new Uint8Array(), info, length));
  const key = createSecretKey(derive(`seal:${purpose}`, 32));
  const header = Buffer.concat([Buffer.of(VERSION), derive(`key-id:${purpose}`, KEY_ID_BYTES)]);
  const boundTo = (ownerId: string) => Buffer.concat([header, Buffer.from(`${purpose}:${ownerId}`)]);
  return {
    seal(secret, ownerId) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(boundTo(ownerId));
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return Buffer.concat([header, nonce, text, cipher.getAuthTag()]).toString('base64url');
    },
    open(sealed, ownerId) {
      const bytes = Buffer.from(sealed, 'base64url');
      if (!bytes.subarray(0, HEADER_BYTES).equals(header)) {
        throw new Error(`the secret of ${ownerId} was sealed with another MASTER_KEY, or in another format`);
      }
      const nonce = bytes.subarray(HEADER_BYTES, HEADER_BYTES + NONCE_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
        .setAAD(boundTo(ownerId))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      const text = decipher.update(bytes.subarray(HEADER_BYTES + NONCE_BYTES, -TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    },
  };
}
