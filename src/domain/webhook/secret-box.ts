import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, randomBytes } from 'node:crypto';

/** Encrypts secrets at rest. A sealed text opens only with the same key and for the same owner. */
export interface SecretBox {
  /** @param ownerId owner of the secret: the sealed text does not open for another owner */
  seal(secret: string, ownerId: string): string;
  /** @throws {Error} when it was sealed with another key or for another owner, or is damaged */
  open(sealed: string, ownerId: string): string;
}

const VERSION = 1;
const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + KEY_ID_BYTES;

/**
 * AES-256-GCM with a key derived from the master key (HKDF-SHA-256). A sealed text is the base64url of version (1
 * byte), key id (4), nonce (12), ciphertext and tag (16); the header and the owner are authenticated.
 * @param purpose is part of the key derivation: different purposes have different keys
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
