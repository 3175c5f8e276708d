import { readFile } from 'node:fs/promises';
import type { Pkcs11Address } from './pkcs11-uri.ts';
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
   * @throws when the token is gone, the PIN is wrong, or the token does not hold exactly one such key
   */
  open(): KeySession;
  /** DER of the certificates on the token, starting with that of the key (same CKA_ID); empty when the key has none. */
  certificates(): Buffer[];
}

/** Octets of the signature buffer: enough for RSA-8192. */
const MAX_SIGNATURE = 1024;

/** Loaded libraries by path. A library is initialized once per process and never finalized. */
const modules = new Map<string, Pkcs11Module>();

/**
 * Opens a token of an HSM.
 * @throws with what to do when `pkcs11js` is not installed, or when the library cannot be loaded
 */
export async function openPkcs11Token(address: Pkcs11Address): Promise<Pkcs11Token> {
  const library = await loadPkcs11Js();
  const pin = 'value' in address.pin ? address.pin.value : (await readFile(address.pin.file, 'utf8')).trim();
  const module = initialized(library, address.modulePath);

  const open = (): { session: Handle; key: Handle } => {
    const session = module.C_OpenSession(slotOf(module, address.token), library.CKF_SERIAL_SESSION);
    try {
      logIn(library, module, session, pin);
      const template: Attribute[] = [{ type: library.CKA_CLASS, value: library.CKO_PRIVATE_KEY }];
      if (address.object !== null) template.push({ type: library.CKA_LABEL, value: address.object });
      if (address.id !== null) template.push({ type: library.CKA_ID, value: Buffer.from(address.id) });
      const [key, ...others] = find(module, session, template);
      if (key === undefined || others.length > 0) {
        throw new Error(`The token holds ${key ? 'several private keys' : 'no private key'} with this label or id.`);
      }
      return { session, key };
    } catch (error) {
      module.C_CloseSession(session);
      throw error;
    }
  };

  return {
    open() {
      const { session, key } = open();
      return {
        sign(mechanism, digest) {
          module.C_SignInit(session, { mechanism: library[mechanism] }, key);
          return module.C_SignAsync(session, digest, Buffer.alloc(MAX_SIGNATURE));
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
              own: theirs?.value.equals(id?.value ?? Buffer.alloc(0)) ?? false,
              der: value?.value ?? Buffer.alloc(0),
            };
          },
        );
        const own = found.filter((each) => each.own);
        const others = found.filter((each) => !each.own);
        return own.length === 0 ? [] : [...own, ...others].map(({ der }) => der);
      } finally {
        module.C_CloseSession(session);
      }
    },
  };
}

function initialized(library: Pkcs11Js, path: string): Pkcs11Module {
  const known = modules.get(path);
  if (known) return known;
  const module = new library.PKCS11();
  try {
    module.load(path);
  } catch (cause) {
    throw new Error(`The library of the HSM, ${path}, cannot be loaded: ${messageOf(cause)}`, { cause });
  }
  try {
    module.C_Initialize({ flags: library.CKF_OS_LOCKING_OK });
  } catch (error) {
    if (codeOf(error) !== library.CKR_CRYPTOKI_ALREADY_INITIALIZED) throw error;
  }
  modules.set(path, module);
  return module;
}

function slotOf(module: Pkcs11Module, label: string | null): Handle {
  const tokens = module.C_GetSlotList(true).map((slot) => ({ slot, label: module.C_GetTokenInfo(slot).label.trim() }));
  const found = tokens.filter((token) => label === null || token.label === label);
  const [token] = found;
  if (token && found.length === 1) return token.slot;
  const all = tokens.map((each) => each.label || '(no label)').join(', ') || 'none';
  throw new Error(
    label === null
      ? `The HSM does not hold exactly one token: name the token in the address. Tokens: ${all}.`
      : `The HSM does not hold exactly one token ${label}. Tokens: ${all}.`,
  );
}

/** Logs in. All sessions of a process with a token share one log-in, so an existing log-in is not an error. */
function logIn(library: Pkcs11Js, module: Pkcs11Module, session: Handle, pin: string): void {
  try {
    module.C_Login(session, library.CKU_USER, pin);
  } catch (error) {
    if (codeOf(error) !== library.CKR_USER_ALREADY_LOGGED_IN) throw error;
  }
}

function find(module: Pkcs11Module, session: Handle, template: Attribute[]): Handle[] {
  module.C_FindObjectsInit(session, template);
  try {
    return module.C_FindObjects(session, 100);
  } finally {
    module.C_FindObjectsFinal(session);
  }
}

function codeOf(error: unknown): number | undefined {
  return (error as { code?: number }).code;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
