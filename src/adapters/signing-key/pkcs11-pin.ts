import { SetupError } from '../../domain/setup-error.ts';
import type { Handle, Pkcs11Js, Pkcs11Module } from './pkcs11js.ts';

/** Logs in with one PIN. Never uses the last try before the PIN is locked. */
export interface PinLogin {
  /**
   * Logs a session in, unless the process is logged in already: all its sessions with a token share one log-in.
   * @throws {SetupError} when the PIN is wrong, was wrong before, is locked, or would be locked by one more wrong try
   */
  toToken(session: Handle): void;
  /**
   * Gives the PIN once more, as a key with CKA_ALWAYS_AUTHENTICATE requires for each signature. To be called after
   * `C_SignInit`.
   * @throws {SetupError} as `toToken`
   */
  toKey(session: Handle): void;
}

/** The state of a read-only session that is logged in. */
const CKS_RO_USER_FUNCTIONS = 1;

/** PINs that a token has refused. Trying the same PIN again could only lock the token. */
const refused = new Set<string>();

/**
 * Creates the log-in for a token.
 * @param slot the slot of the token
 * @param onWarning called when a wrong PIN was tried since the last log-in
 */
export function pinLogin(
  { library, module }: { readonly library: Pkcs11Js; readonly module: Pkcs11Module },
  slot: Handle,
  pin: string,
  onWarning: (text: string) => void,
): PinLogin {
  function logIn(session: Handle, userType: number): void {
    const { label, serialNumber, flags } = module.C_GetTokenInfo(slot);
    const name = label.trim();
    const state = stateOf(library, flags);
    if (state === 'locked')
      throw new SetupError(`The PIN of the token ${name} is locked. Unlock it with the tool of the HSM.`);
    if (state === 'final try')
      throw new SetupError(
        `The PIN of the token ${name} has one try left, which is not used, because a wrong one would lock it. Check the PIN, and log in once with the tool of the HSM, which gives the tries back.`,
      );
    const known = JSON.stringify([serialNumber, name, pin]);
    if (refused.has(known))
      throw new SetupError(`The token ${name} has refused this PIN, which is not tried again. ${CORRECT}`);
    if (state === 'count low' && userType === library.CKU_USER)
      onWarning(`a wrong PIN was tried on the token ${name} since the last log-in; after a few it is locked`);
    try {
      module.C_Login(session, userType, pin);
    } catch (cause) {
      const { code, message } = cause as Error & { code?: number };
      if (code === library.CKR_USER_ALREADY_LOGGED_IN) return;
      if (!pinFaults(library).includes(code)) throw cause;
      refused.add(known);
      throw new SetupError(`The token ${name} refuses the PIN (${message}). ${CORRECT}`, { cause });
    }
  }

  return {
    toToken(session) {
      if (module.C_GetSessionInfo(session).state !== CKS_RO_USER_FUNCTIONS) logIn(session, library.CKU_USER);
    },
    toKey: (session) => logIn(session, library.CKU_CONTEXT_SPECIFIC),
  };
}

const CORRECT = 'Correct it and start again: each wrong try brings the token nearer to its lock.';

function stateOf(library: Pkcs11Js, flags: number): 'locked' | 'final try' | 'count low' | 'free' {
  if (flags & library.CKF_USER_PIN_LOCKED) return 'locked';
  if (flags & library.CKF_USER_PIN_FINAL_TRY) return 'final try';
  return flags & library.CKF_USER_PIN_COUNT_LOW ? 'count low' : 'free';
}

function pinFaults(library: Pkcs11Js): (number | undefined)[] {
  return [
    library.CKR_PIN_INCORRECT,
    library.CKR_PIN_INVALID,
    library.CKR_PIN_LEN_RANGE,
    library.CKR_PIN_EXPIRED,
    library.CKR_PIN_LOCKED,
    library.CKR_USER_PIN_NOT_INITIALIZED,
  ];
}
