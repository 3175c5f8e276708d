import { callAccounts, type Outcome } from './account-api.ts';

/**
 * Why passkeys do not work here: the address of the service has no name (`unnamed`) or no TLS (`insecure`), this page
 * was opened at another address (`elsewhere`), or the browser has no passkeys (`unsupported`).
 */
export type PasskeyObstacle = 'unnamed' | 'insecure' | 'elsewhere' | 'unsupported';

/**
 * Returns why passkeys do not work; null if they do. They belong to the name in the service's address, and browsers
 * require TLS for any machine except their own.
 * @param service the origin of the service
 * @param page the origin of the page
 * @param isSupported whether the browser has passkeys
 */
export function obstacleOf(service: string, page: string, isSupported: boolean): PasskeyObstacle | null {
  const { hostname, protocol } = new URL(service);
  if (/^[\d.]+$|:/.test(hostname)) return 'unnamed';
  if (protocol !== 'https:' && !/^(.+\.)?localhost$/.test(hostname)) return 'insecure';
  if (service !== page) return 'elsewhere';
  return isSupported ? null : 'unsupported';
}

/** The refusal when the person closed the browser's window, or the authenticator has no passkey for this service. */
const NOT_DONE: Outcome = { refusal: { code: 'passkey', param: null, waitMinutes: 0 } };

/** Signs in with a passkey that the person chooses. */
export async function signInWithPasskey(): Promise<Outcome> {
  const begun = await callAccounts('sign-in/passkey/begin', {});
  if (begun.refusal !== null) return begun;
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    begun.body.options as PublicKeyCredentialRequestOptionsJSON,
  );
  const response = await answerOf(() => navigator.credentials.get({ publicKey }));
  return response === null ? NOT_DONE : callAccounts('sign-in/passkey', { response });
}

/** Creates a passkey and adds it to the account. */
export async function addPasskey(name: string, password: string): Promise<Outcome> {
  const begun = await callAccounts('passkeys/begin', { password });
  if (begun.refusal !== null) return begun;
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    begun.body.options as PublicKeyCredentialCreationOptionsJSON,
  );
  const response = await answerOf(() => navigator.credentials.create({ publicKey }));
  return response === null ? NOT_DONE : callAccounts('passkeys/add', { name, response });
}

async function answerOf(ask: () => Promise<Credential | null>): Promise<unknown> {
  try {
    const credential = await ask();
    return credential === null ? null : (credential as PublicKeyCredential).toJSON();
  } catch {
    return null;
  }
}
