import { callAccounts, type Outcome } from './account-api.ts';

/** The browser's interface to authenticators, if it has one. The service checks the answers. */
const AUTHENTICATOR: typeof PublicKeyCredential | undefined = window.PublicKeyCredential;

/**
 * Whether passkeys work on this page. They need TLS or `localhost`, and a host name: a service opened by its IP address
 * has none.
 */
export const HAS_PASSKEYS =
  AUTHENTICATOR?.parseRequestOptionsFromJSON !== undefined && !/^[\d.]+$|:/.test(location.hostname);

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
