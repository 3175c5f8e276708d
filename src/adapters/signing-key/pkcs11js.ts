import { SetupError } from '../../domain/setup-error.ts';

/**
 * The part of the npm package `pkcs11js` that is used. The package is compiled during installation, so it is installed
 * only where an HSM is used.
 */
export interface Pkcs11Js {
  readonly PKCS11: new () => Pkcs11Module;
  readonly CKF_OS_LOCKING_OK: number;
  readonly CKF_SERIAL_SESSION: number;
  readonly CKU_USER: number;
  readonly CKU_CONTEXT_SPECIFIC: number;
  readonly CKF_USER_PIN_COUNT_LOW: number;
  readonly CKF_USER_PIN_FINAL_TRY: number;
  readonly CKF_USER_PIN_LOCKED: number;
  readonly CKO_PRIVATE_KEY: number;
  readonly CKO_CERTIFICATE: number;
  readonly CKA_CLASS: number;
  readonly CKA_LABEL: number;
  readonly CKA_ID: number;
  readonly CKA_VALUE: number;
  readonly CKA_ALWAYS_AUTHENTICATE: number;
  readonly CKM_RSA_PKCS: number;
  readonly CKM_ECDSA: number;
  readonly CKR_USER_ALREADY_LOGGED_IN: number;
  readonly CKR_CRYPTOKI_ALREADY_INITIALIZED: number;
  readonly CKR_PIN_INCORRECT: number;
  readonly CKR_PIN_INVALID: number;
  readonly CKR_PIN_LEN_RANGE: number;
  readonly CKR_PIN_EXPIRED: number;
  readonly CKR_PIN_LOCKED: number;
  readonly CKR_USER_PIN_NOT_INITIALIZED: number;
}

export type Handle = Buffer;
export type Attribute = { type: number; value?: Buffer | number | string };

/** An HSM's library. The functions are those of PKCS #11 2.40; their errors carry its code (CKR_…). */
export interface Pkcs11Module {
  load(path: string): void;
  C_Initialize(options: { flags: number }): void;
  C_GetSlotList(tokenPresent: boolean): Handle[];
  C_GetInfo(): { libraryDescription: string; manufacturerID: string; libraryVersion: { major: number; minor: number } };
  C_GetSlotInfo(slot: Handle): { slotDescription: string; manufacturerID: string };
  C_GetTokenInfo(slot: Handle): {
    label: string;
    manufacturerID: string;
    model: string;
    serialNumber: string;
    flags: number;
  };
  C_GetSessionInfo(session: Handle): { state: number };
  C_OpenSession(slot: Handle, flags: number): Handle;
  C_CloseSession(session: Handle): void;
  C_Login(session: Handle, userType: number, pin: string): void;
  C_FindObjectsInit(session: Handle, template: Attribute[]): void;
  C_FindObjects(session: Handle, maxObjectCount: number): Handle[];
  C_FindObjectsFinal(session: Handle): void;
  C_GetAttributeValue(session: Handle, object: Handle, template: Attribute[]): { type: number; value: Buffer }[];
  C_SignInit(session: Handle, mechanism: { mechanism: number }, key: Handle): void;
  C_SignAsync(session: Handle, inData: Buffer, outData: Buffer): Promise<Buffer>;
}

/** Loads the package. @throws {SetupError} when it is not installed; the message says what to do */
export async function loadPkcs11Js(): Promise<Pkcs11Js> {
  try {
    // biome-ignore lint/suspicious/noTsIgnore: there are types only if the package is installed
    // @ts-ignore
    const { default: library } = (await import('pkcs11js')) as unknown as { default: Pkcs11Js };
    return library;
  } catch (cause) {
    throw new SetupError(
      'A key in an HSM needs the npm package pkcs11js, which is compiled on installation: npm install --no-save --save-prod pkcs11js ' +
        '(with a C++ compiler, make and Python on the machine).',
      { cause },
    );
  }
}
