import { createDecipheriv, createHmac, hash, pbkdf2Sync, timingSafeEqual } from 'node:crypto';
import type { Integer, OctetString, Sequence } from 'asn1js';
import {
  AlgorithmIdentifier,
  AuthenticatedSafe,
  CertBag,
  type ContentInfo,
  EncryptedData,
  type MacData,
  PFX,
  PKCS8ShroudedKeyBag,
  PrivateKeyInfo,
  SafeContents,
} from 'pkijs';

/** The content of a PKCS #12 file, in DER: private keys (PKCS #8) and certificates. */
export interface Pkcs12Contents {
  readonly keys: Buffer[];
  readonly certificates: Buffer[];
}

/** Thrown when a file cannot be used. The message is a sentence that says why. */
export class Pkcs12Fault extends Error {
  override readonly name = 'Pkcs12Fault';
}

/**
 * Maximum number of iterations of all key derivations of a file together; that many take some seconds. OpenSSL writes
 * 2,048, Windows 2,000; today's advice is up to 1,300,000 for a password.
 */
const MAX_ITERATIONS = 10_000_000;

const WRONG_PASSPHRASE = 'It cannot be opened with this passphrase. Check the passphrase.';

const HASHES: Readonly<Record<string, { readonly name: string; readonly bytes: number; readonly block: number }>> = {
  '1.3.14.3.2.26': { name: 'sha1', bytes: 20, block: 64 },
  '2.16.840.1.101.3.4.2.4': { name: 'sha224', bytes: 28, block: 64 },
  '2.16.840.1.101.3.4.2.1': { name: 'sha256', bytes: 32, block: 64 },
  '2.16.840.1.101.3.4.2.2': { name: 'sha384', bytes: 48, block: 128 },
  '2.16.840.1.101.3.4.2.3': { name: 'sha512', bytes: 64, block: 128 },
};
/** HMACs (RFC 8018, appendix B.1). */
const HMACS: Readonly<Record<string, string>> = {
  '1.2.840.113549.2.7': 'sha1',
  '1.2.840.113549.2.8': 'sha224',
  '1.2.840.113549.2.9': 'sha256',
  '1.2.840.113549.2.10': 'sha384',
  '1.2.840.113549.2.11': 'sha512',
};
const HMAC_SHA1 = '1.2.840.113549.2.7';
const DIGEST_BYTES = new Map(Object.values(HASHES).map(({ name, bytes }) => [name, bytes]));
/** Ciphers by the length of the key in bytes. */
const CIPHERS: Readonly<Record<string, { readonly name: string; readonly key: number }>> = {
  '2.16.840.1.101.3.4.1.2': { name: 'aes-128-cbc', key: 16 },
  '2.16.840.1.101.3.4.1.22': { name: 'aes-192-cbc', key: 24 },
  '2.16.840.1.101.3.4.1.42': { name: 'aes-256-cbc', key: 32 },
  '1.2.840.113549.3.7': { name: 'des-ede3-cbc', key: 24 },
};
const PBES2 = '1.2.840.113549.1.5.13';
const PBKDF2 = '1.2.840.113549.1.5.12';
const PBMAC1 = '1.2.840.113549.1.5.14';
const DATA = '1.2.840.113549.1.7.1';
const ENCRYPTED_DATA = '1.2.840.113549.1.7.6';
const OLD_ENCRYPTION = /^1\.2\.840\.113549\.1\.(12\.1|5)\./;

/**
 * Opens a PKCS #12 file (RFC 7292): verifies its MAC if it has one, PBMAC1 (RFC 9579) included, and decrypts its
 * contents (PBES2). Takes as long as the file's iterations require, up to {@link MAX_ITERATIONS}, so it is meant for a
 * thread.
 * @throws {Pkcs12Fault} saying why the file cannot be used
 */
export function openPkcs12(file: Uint8Array<ArrayBuffer>, passphrase: string): Pkcs12Contents {
  const budget = { left: MAX_ITERATIONS };
  let pfx: PFX;
  try {
    pfx = PFX.fromBER(file);
  } catch {
    throw new Pkcs12Fault('It is not a PKCS #12 file.');
  }
  if (pfx.authSafe.contentType !== DATA)
    throw new Pkcs12Fault('It is protected by a public key, not by a passphrase, which is not supported.');
  const safe = octetsOf(pfx.authSafe.content as OctetString);
  if (pfx.macData) verifyMac(pfx.macData, safe, passphrase, budget);
  const contents: Pkcs12Contents = { keys: [], certificates: [] };
  for (const part of AuthenticatedSafe.fromBER(safe).safeContents) {
    const content = contentOf(part, passphrase, budget);
    try {
      take(SafeContents.fromBER(content), contents, passphrase, budget);
    } catch (error) {
      // Without a MAC, decryption with a wrong passphrase may yield octets that only look decrypted, and then fail to
      // parse.
      throw pfx.macData || error instanceof Pkcs12Fault ? error : new Pkcs12Fault(WRONG_PASSPHRASE);
    }
  }
  return contents;
}

interface Budget {
  left: number;
}

function take(safe: SafeContents, contents: Pkcs12Contents, passphrase: string, budget: Budget): void {
  for (const { bagValue } of safe.safeBags) {
    if (bagValue instanceof PKCS8ShroudedKeyBag) {
      const octets = octetsOf(bagValue.encryptedData);
      contents.keys.push(decrypted(bagValue.encryptionAlgorithm, octets, passphrase, budget));
    } else if (bagValue instanceof PrivateKeyInfo) contents.keys.push(Buffer.from(bagValue.toSchema().toBER()));
    else if (bagValue instanceof SafeContents) take(bagValue, contents, passphrase, budget);
    else if (bagValue instanceof CertBag && bagValue.certId === '1.2.840.113549.1.9.22.1')
      contents.certificates.push(Buffer.from(octetsOf(bagValue.certValue as OctetString)));
  }
}

function contentOf({ contentType, content }: ContentInfo, passphrase: string, budget: Budget): ArrayBuffer {
  if (contentType === DATA) return octetsOf(content as OctetString);
  if (contentType !== ENCRYPTED_DATA)
    throw new Pkcs12Fault('It is encrypted for a public key, not by a passphrase, which is not supported.');
  const { encryptedContentInfo } = new EncryptedData({ schema: content });
  const octets = encryptedContentInfo.getEncryptedContent();
  return new Uint8Array(decrypted(encryptedContentInfo.contentEncryptionAlgorithm, octets, passphrase, budget)).buffer;
}

/** Decrypts by PBES2 (RFC 8018, section 6.2). */
function decrypted(algorithm: AlgorithmIdentifier, octets: ArrayBuffer, passphrase: string, budget: Budget): Buffer {
  const { algorithmId } = algorithm;
  if (algorithmId !== PBES2) {
    const what = OLD_ENCRYPTION.test(algorithmId) ? 'an old encryption (RC2, 3DES)' : `an encryption (${algorithmId})`;
    throw new Pkcs12Fault(`It uses ${what} that is not supported.`);
  }
  const [derivation, scheme] = algorithmsIn(algorithm.algorithmParams);
  const cipher = CIPHERS[scheme?.algorithmId ?? ''];
  if (!derivation || !scheme || !cipher)
    throw new Pkcs12Fault(`It uses a cipher (${scheme?.algorithmId}) that is not supported.`);
  const key = pbkdf2Key(derivation, passphrase, cipher.key, budget);
  const iv = Buffer.from(octetsOf(scheme.algorithmParams as OctetString));
  try {
    const decipher = createDecipheriv(cipher.name, key, iv);
    return Buffer.concat([decipher.update(Buffer.from(octets)), decipher.final()]);
  } catch {
    throw new Pkcs12Fault(WRONG_PASSPHRASE);
  }
}

function verifyMac({ mac, macSalt, iterations = 1 }: MacData, safe: ArrayBuffer, passphrase: string, budget: Budget) {
  const stated = Buffer.from(octetsOf(mac.digest));
  const { algorithmId, algorithmParams } = mac.digestAlgorithm;
  let made: Buffer;
  if (algorithmId === PBMAC1) {
    const [derivation, scheme] = algorithmsIn(algorithmParams);
    const name = HMACS[scheme?.algorithmId ?? ''];
    if (!derivation || !name) throw new Pkcs12Fault(`It has a MAC (${scheme?.algorithmId}) that is not supported.`);
    made = createHmac(name, pbkdf2Key(derivation, passphrase, null, budget))
      .update(Buffer.from(safe))
      .digest();
  } else {
    const digest = HASHES[algorithmId];
    if (!digest) throw new Pkcs12Fault(`It has a MAC (${algorithmId}) that is not supported.`);
    const macBy = (text: Buffer) => {
      spend(budget, iterations);
      const key = pkcs12Key(digest, text, Buffer.from(octetsOf(macSalt)), iterations);
      return createHmac(digest.name, key).update(Buffer.from(safe)).digest();
    };
    made = macBy(Buffer.from(`${passphrase}\0`, 'utf16le').swap16());
    // Some programs use no octets at all for an empty passphrase.
    if (passphrase === '' && !made.equals(stated)) made = macBy(Buffer.alloc(0));
  }
  if (made.length !== stated.length || !timingSafeEqual(made, stated)) throw new Pkcs12Fault(WRONG_PASSPHRASE);
}

/** Derives a key by PBKDF2. @param length in bytes; null: the parameters must state it (RFC 9579, section 4) */
function pbkdf2Key(derivation: AlgorithmIdentifier, passphrase: string, length: number | null, budget: Budget): Buffer {
  if (derivation.algorithmId !== PBKDF2)
    throw new Pkcs12Fault(`It uses a key derivation (${derivation.algorithmId}) that is not supported.`);
  const [salt, iterations, ...rest] = (derivation.algorithmParams as Sequence).valueBlock.value;
  const count = (iterations as Integer).valueBlock.valueDec;
  const stated = rest.find((each) => 'valueDec' in each.valueBlock) as Integer | undefined;
  const prf = rest.find((each) => !('valueDec' in each.valueBlock));
  const name = HMACS[prf === undefined ? HMAC_SHA1 : new AlgorithmIdentifier({ schema: prf }).algorithmId];
  const bytes = length ?? stated?.valueBlock.valueDec;
  if (name === undefined || bytes === undefined || bytes < 1 || bytes > 1024)
    throw new Pkcs12Fault('It uses parameters of PBKDF2 that are not supported.');
  spend(budget, count * Math.ceil(bytes / (DIGEST_BYTES.get(name) ?? 1)));
  return pbkdf2Sync(passphrase, Buffer.from(octetsOf(salt as OctetString)), count, bytes, name);
}

function spend(budget: Budget, iterations: number): void {
  if (!Number.isSafeInteger(iterations) || iterations < 1)
    throw new Pkcs12Fault('Its number of iterations is not valid.');
  budget.left -= iterations;
  if (budget.left < 0)
    throw new Pkcs12Fault(
      `It asks for more than ${MAX_ITERATIONS.toLocaleString('en')} iterations of its key derivation.`,
    );
}

/** Derives the key of a MAC (RFC 7292, appendix B.2, with the purpose 3). The key is not longer than one digest. */
function pkcs12Key(
  { name, bytes, block }: (typeof HASHES)[string],
  text: Buffer,
  salt: Buffer,
  iterations: number,
): Buffer {
  const repeated = (octets: Buffer) =>
    octets.length === 0 ? octets : Buffer.alloc(block * Math.ceil(octets.length / block), octets);
  let digest = hash(name, Buffer.concat([Buffer.alloc(block, 3), repeated(salt), repeated(text)]), 'buffer');
  for (let round = 1; round < iterations; round++) digest = hash(name, digest, 'buffer');
  return digest.subarray(0, bytes);
}

/** Returns the two algorithms of PBES2-params or PBMAC1-params. */
function algorithmsIn(parameters: unknown): (AlgorithmIdentifier | undefined)[] {
  const { value } = (parameters as Sequence).valueBlock;
  return value.map((schema) => new AlgorithmIdentifier({ schema }));
}

/** Returns the octets of a string. In BER it may be composed of several strings. */
function octetsOf(string: OctetString): ArrayBuffer {
  return string.getValue();
}
