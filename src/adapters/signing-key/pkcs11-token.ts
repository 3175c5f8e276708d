import { readFile } from 'node:fs/promises';
import { SetupError } from '../../domain/setup-error.ts';
import { pinLogin } from './pkcs11-pin.ts';
import type { Pkcs11Address, PlaceAttribute } from './pkcs11-uri.ts';
import { type Attribute, type Handle, loadPkcs11Js, type Pkcs11Js, type Pkcs11Module } from './pkcs11js.ts';

/** A logged-in session with a handle to the private key. */
export interface KeySession {
  /** @param digest the input of the mechanism: a DigestInfo for RSA, a digest for ECDSA @returns the raw signature */
  sign(mechanism: 'CKM_RSA_PKCS' | 'CKM_ECDSA', digest: Buffer): Promise<Buffer>;
  close(): void;
}

export interface Pkcs11Token {
  /**
   * Opens a session and logs in.
   * @throws when the token is gone; {@link SetupError} when its PIN is wrong or must not be tried, or when it does not
   * hold exactly one key with the given label and id
   */
  open(): KeySession;
  /** Returns the certificates on the token, DER: those of the key (same CKA_ID), and all others. */
  certificates(): { readonly own: Buffer[]; readonly others: Buffer[] };
}

export interface Pkcs11Parts {
  /** Called with what operators should know, as part of a sentence; default: ignored. */
  readonly onWarning?: (text: string) => void;
  /** The npm package `pkcs11js`; default: the installed one. */
  readonly library?: Pkcs11Js;
}

/** Octets of the signature buffer: enough for RSA-8192. */
const MAX_SIGNATURE = 1024;

/** Loaded libraries by package and path. A library is initialized once per process and never finalized. */
const modules = new WeakMap<Pkcs11Js, Map<string, Pkcs11Module>>();

/**
 * Opens a token of an HSM.
 * @throws {SetupError} when `pkcs11js` is not installed, or when the library or the PIN cannot be read; the message
 * says what to do
 */
export async function openPkcs11Token(address: Pkcs11Address, parts: Pkcs11Parts = {}): Promise<Pkcs11Token> {
  const { onWarning = () => undefined, library = await loadPkcs11Js() } = parts;
  const pin = 'value' in address.pin ? address.pin.value : await pinIn(address.pin.file);
  const module = initialized(library, address.modulePath);

  const open = () => {
    const slot = slotOf(module, address.where);
    const session = module.C_OpenSession(slot, library.CKF_SERIAL_SESSION);
    try {
      const login = pinLogin({ library, module }, slot, pin, onWarning);
      login.toToken(session);
      const template: Attribute[] = [{ type: library.CKA_CLASS, value: library.CKO_PRIVATE_KEY }];
      if (address.object !== null) template.push({ type: library.CKA_LABEL, value: address.object });
      if (address.id !== null) template.push({ type: library.CKA_ID, value: Buffer.from(address.id) });
      const [key, ...others] = find(module, session, template);
      if (key === undefined || others.length > 0) {
        throw new SetupError(
          `The token holds ${key ? 'several private keys' : 'no private key'} with this label or id.`,
        );
      }
      return { session, key, login };
    } catch (error) {
      module.C_CloseSession(session);
      throw error;
    }
  };

  return {
    open() {
      const { session, key, login } = open();
      const wantsPin = alwaysAuthenticates(library, module, session, key);
      return {
        async sign(mechanism, digest) {
          module.C_SignInit(session, { mechanism: library[mechanism] }, key);
          if (wantsPin) login.toKey(session);
          return await module.C_SignAsync(session, digest, Buffer.alloc(MAX_SIGNATURE));
        },
        close: () => module.C_CloseSession(session),
      };
    },
    certificates() {
      const { session, key } = open();
      try {
        const [id] = module.C_GetAttributeValue(session, key, [{ type: library.CKA_ID }]);
        const found = find(module, session, [{ type: library.CKA_CLASS, value: library.CKO_CERTIFICATE }]).map(
          (each) => {
            const [theirs, value] = module.C_GetAttributeValue(session, each, [
              { type: library.CKA_ID },
              { type: library.CKA_VALUE },
            ]);
            return {
              isOwn: theirs?.value.equals(id?.value ?? Buffer.alloc(0)) ?? false,
              der: value?.value ?? Buffer.alloc(0),
            };
          },
        );
        const ders = (isOwn: boolean) => found.filter((each) => each.isOwn === isOwn).map(({ der }) => der);
        return { own: ders(true), others: ders(false) };
      } finally {
        module.C_CloseSession(session);
      }
    },
  };
}

async function pinIn(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (cause) {
    throw new SetupError(`The file of the PIN cannot be read: ${(cause as Error).message}`, { cause });
  }
}

function initialized(library: Pkcs11Js, path: string): Pkcs11Module {
  const loaded = modules.get(library) ?? new Map<string, Pkcs11Module>();
  modules.set(library, loaded);
  const known = loaded.get(path);
  if (known) return known;
  const module = new library.PKCS11();
  try {
    module.load(path);
  } catch (cause) {
    throw new SetupError(`The library of the HSM, ${path}, cannot be loaded: ${messageOf(cause)}`, { cause });
  }
  try {
    module.C_Initialize({ flags: library.CKF_OS_LOCKING_OK });
  } catch (error) {
    if (codeOf(error) !== library.CKR_CRYPTOKI_ALREADY_INITIALIZED) throw error;
  }
  loaded.set(path, module);
  return module;
}

/**
 * Finds the slot of the token. Does not throw a {@link SetupError}, because an HSM in the network, and its token, may
 * be unavailable for a while.
 */
function slotOf(module: Pkcs11Module, where: Pkcs11Address['where']): Handle {
  const tokens = module.C_GetSlotList(true).map((slot) => ({ slot, facts: factsOf(module, slot) }));
  const found = tokens.filter(({ facts }) => [...where].every(([name, value]) => facts[name] === value));
  const [token] = found;
  if (token && found.length === 1) return token.slot;
  const asked = [...where].map(([name, value]) => (name === 'token' ? value : `${name}=${value}`)).join(', ');
  const all = tokens
    .map(({ facts }) => `${facts.token || '(no label)'} (model=${facts.model}, serial=${facts.serial})`)
    .join('; ');
  throw new Error(
    `The HSM does not hold exactly one token${asked === '' ? ': name the token in the address' : ` ${asked}`}. Tokens: ${all || 'none'}.`,
  );
}

/** Returns the attributes of a token that a URI may name. PKCS #11 pads texts with spaces. */
function factsOf(module: Pkcs11Module, slot: Handle): Record<PlaceAttribute, string> {
  const [library, place, token] = [module.C_GetInfo(), module.C_GetSlotInfo(slot), module.C_GetTokenInfo(slot)];
  const texts = {
    token: token.label,
    manufacturer: token.manufacturerID,
    model: token.model,
    serial: token.serialNumber,
    'slot-description': place.slotDescription,
    'slot-manufacturer': place.manufacturerID,
    'slot-id': String(slot.readUInt32LE()),
    'library-description': library.libraryDescription,
    'library-manufacturer': library.manufacturerID,
    'library-version': `${library.libraryVersion.major}.${library.libraryVersion.minor}`,
  };
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, text.replaceAll('\0', '').trim()]),
  ) as typeof texts;
}

function find(module: Pkcs11Module, session: Handle, template: Attribute[]): Handle[] {
  module.C_FindObjectsInit(session, template);
  try {
    return module.C_FindObjects(session, 100);
  } finally {
    module.C_FindObjectsFinal(session);
  }
}

/** Whether the key requires the PIN for each signature. Older libraries do not know the attribute. */
function alwaysAuthenticates(library: Pkcs11Js, module: Pkcs11Module, session: Handle, key: Handle): boolean {
  try {
    const [always] = module.C_GetAttributeValue(session, key, [{ type: library.CKA_ALWAYS_AUTHENTICATE }]);
    return always?.value[0] === 1;
  } catch {
    return false;
  }
}

function codeOf(error: unknown): number | undefined {
  return (error as { code?: number }).code;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
