import { callAccounts, type Outcome } from './account-api.ts';

/** The browser's interface to authenticators, if it has one. The service checks the answers. */
const AUTHENTICATOR: typeof PublicKeyCredential | undefined = window.PublicKeyCredential;

/**
 * Whether this browser has passkeys on this page: over TLS, or on `localhost`. They belong to a name, so a service that
 * is opened by its number has none.
 */
export const HAS_PASSKEYS =
  AUTHENTICATOR?.parseRequestOptionsFromJSON !== undefined && !/^[\d.]+$|:/.test(location.hostname);

/** The person closed the browser's window, or the authenticator has no passkey for this service. */
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

/** Makes a passkey and adds it to the account. */
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
