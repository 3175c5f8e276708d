import { createHash, createHmac, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Returns the secret in an `otpauth:` URI. */
function secretOf(uri: string): Buffer {
  const text = new URL(uri).searchParams.get('secret') ?? '';
  const bits = [...text].map((each) => BASE32.indexOf(each).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((each) => Number.parseInt(each, 2)));
}

/** Returns the code of an authenticator at a time in milliseconds (RFC 6238, SHA-1, 6 digits, 30 s). */
export function codeAt(uri: string, now = Date.now()): string {
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(now / 30_000)));
  const mac = createHmac('sha1', secretOf(uri)).update(step).digest();
  const at = (mac.at(-1) ?? 0) & 15;
  return String((mac.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

/**
 * Returns the previous code, which is still valid. Tests set codes up with it, so that the present one stays unused for
 * signing in. If the present code ends soon, waits for the next one.
 */
export async function earlierCode(uri: string): Promise<string> {
  const left = 30_000 - (Date.now() % 30_000);
  if (left < 8000) await sleep(left + 1);
  return codeAt(uri, Date.now() - 30_000);
}

/** Deviations of an authenticator from the correct behaviour. */
export interface Deviation {
  /** The origin of the page that asks. */
  origin?: string;
  challenge?: string;
  /** Whether it verified the person, by a PIN or a fingerprint. */
  verified?: boolean;
  rpId?: string;
}

/** An authenticator with one passkey (WebAuthn Level 2, attestation "none", ES256). */
export class Authenticator {
  readonly id = randomBytes(16);
  readonly #origin: string;
  readonly #pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  #uses = 0;

  /** @param origin of the service's pages */
  constructor(origin: string) {
    this.#origin = origin;
  }

  /** Answers `PublicKeyCredentialCreationOptionsJSON`. */
  register(options: { challenge: string; rp: { id: string } }, deviation: Deviation = {}) {
    const data = this.#data(options.rp.id, deviation, true);
    const attestation = cbor(
      new Map<string, unknown>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', data],
      ]),
    );
    const client = this.#client('webauthn.create', options.challenge, deviation);
    return this.#answer({ clientDataJSON: url(client), attestationObject: url(attestation), transports: ['internal'] });
  }

  /** Answers `PublicKeyCredentialRequestOptionsJSON`. */
  signIn(options: { challenge: string; rpId: string }, deviation: Deviation = {}) {
    const data = this.#data(options.rpId, deviation, false);
    const client = this.#client('webauthn.get', options.challenge, deviation);
    const signed = Buffer.concat([data, createHash('sha256').update(client).digest()]);
    const signature = createSign('sha256').update(signed).sign(this.#pair.privateKey);
    return this.#answer({ clientDataJSON: url(client), authenticatorData: url(data), signature: url(signature) });
  }

  #answer(response: Record<string, unknown>) {
    const id = url(this.id);
    return { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} };
  }

  #client(type: string, challenge: string, { origin = this.#origin, ...other }: Deviation): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge: other.challenge ?? challenge, origin, crossOrigin: false }));
  }

  #data(rpId: string, { verified = true, ...other }: Deviation, withKey: boolean): Buffer {
    const flags = 0x01 | (verified ? 0x04 : 0) | (withKey ? 0x40 : 0);
    const head = Buffer.concat([
      createHash('sha256')
        .update(other.rpId ?? rpId)
        .digest(),
      Buffer.from([flags]),
      uint32(++this.#uses),
    ]);
    if (!withKey) return head;
    const { x = '', y = '' } = this.#pair.publicKey.export({ format: 'jwk' });
    const key = cbor(
      new Map<number, unknown>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x, 'base64url')],
        [-3, Buffer.from(y, 'base64url')],
      ]),
    );
    return Buffer.concat([head, Buffer.alloc(16), Buffer.from([0, this.id.length]), this.id, key]);
  }
}

function url(bytes: Buffer): string {
  return bytes.toString('base64url');
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Encodes maps, byte strings, texts and small integers as CBOR (RFC 8949). */
function cbor(value: unknown): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (!(value instanceof Map)) throw new TypeError(`no CBOR of ${typeof value}`);
  return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, each]) => [cbor(key), cbor(each)])]);
}

function head(type: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(type << 5) | length]);
  if (length < 256) return Buffer.from([(type << 5) | 24, length]);
  return Buffer.from([(type << 5) | 25, length >> 8, length & 255]);
}
