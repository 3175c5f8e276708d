/**
 * The part of the npm package `pkcs11js` that is used. The package is compiled on installation, so it is installed only
 * for an HSM.
 */
export interface Pkcs11Js {
  readonly PKCS11: new () => Pkcs11Module;
  readonly CKF_OS_LOCKING_OK: number;
  readonly CKF_SERIAL_SESSION: number;
  readonly CKU_USER: number;
  readonly CKO_PRIVATE_KEY: number;
  readonly CKO_CERTIFICATE: number;
  readonly CKA_CLASS: number;
  readonly CKA_LABEL: number;
  readonly CKA_ID: number;
  readonly CKA_VALUE: number;
  readonly CKM_RSA_PKCS: number;
  readonly CKM_ECDSA: number;
  readonly CKR_USER_ALREADY_LOGGED_IN: number;
  readonly CKR_CRYPTOKI_ALREADY_INITIALIZED: number;
}

export type Handle = Buffer;
export type Attribute = { type: number; value?: Buffer | number | string };

/** An HSM's library. The functions are those of PKCS #11 2.40; their errors carry its code (CKR_…). */
export interface Pkcs11Module {
  load(path: string): void;
  C_Initialize(options: { flags: number }): void;
  C_GetSlotList(tokenPresent: boolean): Handle[];
  C_GetTokenInfo(slot: Handle): { label: string };
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

/** @throws with what to do when the package is not installed */
export async function loadPkcs11Js(): Promise<Pkcs11Js> {
  try {
    // biome-ignore lint/suspicious/noTsIgnore: there are types only if the package is installed
    // @ts-ignore
    const { default: library } = (await import('pkcs11js')) as unknown as { default: Pkcs11Js };
    return library;
  } catch (cause) {
    throw new Error(
      'A key in an HSM needs the npm package pkcs11js, which is compiled on installation: npm install --no-save pkcs11js ' +
        '(with a C++ compiler, make and Python on the machine).',
      { cause },
    );
  }
}
