import type { Invitation, InvitationState } from './invitation.ts';
import type { Grants, Member, Person, Role, SignedIn } from './person.ts';

/** Stores grants and invitations. */
export interface PeopleRepository {
  /** Returns the rights of a person. An unknown person has none. */
  grantsOf(personId: string): Promise<Grants>;
  /** Returns the members of a tenant by name, at most `MAX_MEMBERS`. */
  membersOf(tenantId: string): Promise<Member[]>;
  /** Returns a member; null if the person does not belong to the tenant. */
  memberOf(tenantId: string, personId: string): Promise<Member | null>;
  /**
   * Changes a person's role in a tenant, or removes it (null). The last owner's role is not changed.
   * @returns false if nothing was changed, because the person is the last owner or not a member
   */
  changeRole(personId: string, tenantId: string, role: Role | null): Promise<boolean>;
  /** Adds grants to a person. A new role in a tenant replaces the old one. */
  grant(personId: string, grants: Grants): Promise<void>;
  /** Returns those of these places, encoded by `placeOf`, that still exist. */
  validPlaces(places: readonly string[]): Promise<Set<string>>;
  /**
   * Removes codes and passkeys of the account with this address (in lower case), and ends its sessions. For a person
   * who has lost them.
   * @returns the account's person; null if there is no such account
   */
  removeSecondFactors(email: string): Promise<Person | null>;
  /** Ends the rights of the operator with this address (in lower case). @returns the operator; null if there is none */
  removeOperator(email: string): Promise<Person | null>;
  insertInvitation(invitation: Invitation): Promise<void>;
  /**
   * Reserves an invitation for an address, so that only one person can use it.
   * @param email in lower case
   * @returns null if it does not exist, has expired, or is for or reserved for another address
   */
  reserveInvitation(id: string, email: string, now: Date): Promise<Invitation | null>;
  /**
   * Marks a reserved invitation as accepted. It can no longer be withdrawn, and only the caller may add its grants, for
   * `CLAIM_MS`.
   * @param email the address for which it is reserved
   * @returns false if it was withdrawn, was used or has expired meanwhile, or is being accepted by another request
   */
  claimInvitation(id: string, email: string, now: Date): Promise<boolean>;
  /** Finds an invitation that is valid at `now`, or would be if it had not ended; null if there is none. */
  findInvitation(
    id: string,
    now: Date,
  ): Promise<{
    readonly invitation: Invitation;
    readonly ended: Extract<InvitationState, 'used' | 'revoked'> | null;
  } | null>;
  /** Ends an invitation after its grants were added. */
  endInvitation(id: string): Promise<void>;
  /** Lists up to `limit` invitations into a tenant that can be withdrawn at `now`, in the order of their end. */
  invitationsOf(tenantId: string, limit: number, now: Date): Promise<Invitation[]>;
  /** Withdraws an invitation into this tenant. @returns false if there is none, or it has been accepted */
  revokeInvitation(tenantId: string, id: string, now: Date): Promise<boolean>;
}

/** The facts that a request states about the browser. */
export interface BrowserFacts {
  /** The request's cookies: `name=value`, separated by `; `. Each name occurs once, and nothing is quoted. */
  readonly cookie: string | undefined;
  /** The request's header `User-Agent`. */
  readonly userAgent: string | undefined;
  /** The client's network address. */
  readonly address: string;
}

/** A result together with cookies to set in the browser, as values of `Set-Cookie`. */
export interface WithCookies<Result> {
  readonly result: Result;
  readonly cookies: readonly string[];
}

/** An account with this address already exists. */
export class AccountExists extends Error {
  override readonly name = 'AccountExists';
}

/** The result of signing in with the right password. */
export interface PasswordAccepted {
  readonly person: Person;
  /** The session; null if the account has a second factor, whose code starts it (`SecondFactors.signInWithCode`). */
  readonly session: SignedIn | null;
}

/** Manages accounts with passwords, and their sessions in cookies. Every method may be called with hostile input. */
export interface Accounts {
  /**
   * Finds the account of an address; null if there is none. The result reveals who has an account, so only callers who
   * may know that may use it.
   * @param email in lower case
   */
  find(email: string): Promise<{ readonly isConfirmed: boolean } | null>;
  /**
   * Creates an account.
   * @param email in lower case
   * @param isConfirmed whether the person has confirmed the address by a mail. If not, another person may have created
   * the account, so the first new password that is set by a mail removes codes, passkeys and sessions
   * @throws {AccountExists} possibly; an existing account is not changed in any case
   */
  create(
    account: { readonly email: string; readonly name: string; readonly password: string },
    isConfirmed: boolean,
  ): Promise<void>;
  /**
   * Gives an unconfirmed account to a person who has read a mail to its address, as a new password by mail does. Sets
   * name and password, and removes the codes, passkeys, sessions and links of the account's creator.
   * @param email in lower case
   * @returns the account's person; null, without a change, if it has this password, because its creator may know it
   */
  takeOver(account: {
    readonly email: string;
    readonly name: string;
    readonly password: string;
  }): Promise<Person | null>;
  /** Starts a session, or the wait for a second factor. @returns null if there is no such account with this password */
  signIn(
    credentials: { readonly email: string; readonly password: string },
    browser: BrowserFacts,
  ): Promise<WithCookies<PasswordAccepted> | null>;
  /** Ends the session, if there is one. */
  signOut(browser: BrowserFacts): Promise<WithCookies<void>>;
  /** Returns the session of the signed-in person; null if there is none. */
  session(browser: BrowserFacts): Promise<WithCookies<SignedIn> | null>;
  /**
   * Changes the password, ends all sessions and starts a new one.
   * @returns null if nobody is signed in; false if the current password is wrong
   */
  changePassword(
    change: { readonly currentPassword: string; readonly newPassword: string },
    browser: BrowserFacts,
  ): Promise<WithCookies<true> | false | null>;
  /**
   * Notes in the session that its person has entered the password. Other sessions are not changed.
   * @returns ended: nobody is signed in, or the session ended meanwhile
   */
  confirm(password: string, browser: BrowserFacts): Promise<'confirmed' | 'ended' | 'wrong_password'>;
  /** Sends a mail with a link if there is such an account. Resolves before the mail is sent. */
  requestReset(email: string): Promise<void>;
  /**
   * Returns the person whose password a link of `requestReset` sets; null if the token is unknown, used or expired. The
   * token stays valid.
   */
  personOfReset(token: string): Promise<Person | null>;
  /**
   * Sets the password and ends all sessions.
   * @returns whose password it is; null if the token is unknown, used or expired
   */
  resetPassword(token: string, newPassword: string): Promise<Person | null>;
}

/** A browser in which a person is signed in. */
export interface OpenSession {
  readonly id: string;
  /** The header `User-Agent` of the request that started it; null if there was none. */
  readonly userAgent: string | null;
  /** The network address from which it was started; null if it is unknown. */
  readonly address: string | null;
  /** UTC. */
  readonly begunAt: Date;
  /** UTC, rounded to the hour. */
  readonly usedAt: Date;
}

/** The parts of their own account that people can see and change. Every method may be called with hostile input. */
export interface OwnAccount {
  /** Lists at most `MAX_SESSIONS` sessions, the most recently used first. */
  sessions(personId: string): Promise<OpenSession[]>;
  /** Ends a session of this person at once. @returns false if there is none with this id */
  endSession(personId: string, id: string): Promise<boolean>;
  /** Ends all sessions of this person except one. */
  endOthers(personId: string, keptId: string): Promise<void>;
  rename(personId: string, name: string): Promise<void>;
  /**
   * Makes the token of a link that confirms a new address for the signed-in person's account.
   * @param email in lower case
   */
  beginNewAddress(
    email: string,
    password: string,
    browser: BrowserFacts,
  ): Promise<{ readonly refusal: null; readonly token: string } | { readonly refusal: 'ended' | 'wrong_password' }>;
  /**
   * Sets the token's address as the account's confirmed address, and ends its other sessions and everything that was
   * started with the old address. The holder of the link must also be signed in to the account, otherwise the reader of
   * a mail could be led to confirm an account of another person.
   * @returns link: it is unknown, used, expired, or of another account; taken: another account has the address
   */
  confirmNewAddress(
    token: string,
    browser: BrowserFacts,
  ): Promise<
    | { readonly refusal: null; readonly person: Person; readonly was: Person }
    | { readonly refusal: 'ended' | 'link' | 'taken' }
  >;
}

/** Recognizes passwords that can soon be guessed. */
export interface PasswordJudge {
  /**
   * Whether a password is easy to guess.
   * @param password of any length that is not hostile
   * @param words what an attacker would try first for this person, such as the name and the address
   */
  isGuessable(password: string, words: readonly string[]): Promise<boolean>;
}

/** A passkey of a person (WebAuthn Level 2). */
export interface Passkey {
  readonly id: string;
  /** The name that the person gave it. */
  readonly name: string;
  /** UTC. */
  readonly createdAt: Date;
}

/** The second factors of an account. */
export interface SecondFactorState {
  /** Whether signing in by password requires an authenticator's code. */
  readonly hasCodes: boolean;
  /** Number of unused recovery codes; 0 without authenticator codes. */
  readonly recoveryCodesLeft: number;
  /** The passkeys, oldest first. */
  readonly passkeys: readonly Passkey[];
}

/** The secret that an authenticator needs to compute codes (RFC 6238: SHA-1, 6 digits, 30 s). Shown once. */
export interface NewCodes {
  /** `otpauth://totp/…` with the secret. */
  readonly uri: string;
  readonly recoveryCodes: readonly string[];
}

/** Why a change of a second factor, or signing in with one, was refused. */
export type SecondFactorRefusal = 'wrong_password' | 'wrong_code' | 'locked' | 'ended' | 'exists' | 'none' | 'too_many';

export class SecondFactorRefused extends Error {
  override readonly name = 'SecondFactorRefused';
  readonly reason: SecondFactorRefusal;

  constructor(reason: SecondFactorRefusal) {
    super(`second factor: ${reason}`);
    this.reason = reason;
  }
}

/**
 * Manages second factors: an authenticator's codes, required besides the password, with recovery codes; and passkeys,
 * which replace password and code. Changes require the password, so an unattended browser is not enough. Every method
 * may be called with hostile input, and throws {SecondFactorRefused}.
 */
export interface SecondFactors {
  /** Returns the second factors. @param browser the browser of a signed-in person */
  stateOf(person: Person, browser: BrowserFacts): Promise<SecondFactorState>;
  /**
   * Makes a secret, which takes effect once `confirmCodes` has verified a code of it.
   * @throws exists, wrong_password
   */
  beginCodes(password: string, browser: BrowserFacts): Promise<NewCodes>;
  /**
   * Confirms the secret. From now on a password alone starts no session. The code is used up.
   * @throws wrong_code, none; exists if a code was confirmed before
   */
  confirmCodes(code: string, browser: BrowserFacts): Promise<WithCookies<void>>;
  /** Removes the authenticator and the recovery codes. @throws wrong_password */
  removeCodes(password: string, browser: BrowserFacts): Promise<WithCookies<void>>;
  /** Replaces the recovery codes. @throws wrong_password, none */
  newRecoveryCodes(password: string, browser: BrowserFacts): Promise<readonly string[]>;
  /**
   * Starts the session for which `Accounts.signIn` required a code.
   * @param code of the authenticator, or a recovery code, which is used up
   * @throws wrong_code; ended after 5 wrong codes or 10 minutes; locked after 10 wrong codes in a row, for 15 minutes
   */
  signInWithCode(code: string, browser: BrowserFacts): Promise<WithCookies<SignedIn>>;
  /** Starts to create a passkey. @returns `PublicKeyCredentialCreationOptionsJSON` @throws wrong_password, too_many */
  beginPasskey(password: string, browser: BrowserFacts): Promise<WithCookies<unknown>>;
  /**
   * Adds the passkey.
   * @param response `RegistrationResponseJSON` of the browser
   * @throws wrong_code if it is not valid, ended
   */
  addPasskey(name: string, response: unknown, browser: BrowserFacts): Promise<Passkey>;
  /** Removes a passkey. @throws wrong_password, none */
  removePasskey(id: string, password: string, browser: BrowserFacts): Promise<void>;
  /** Starts to sign in. @returns `PublicKeyCredentialRequestOptionsJSON` for any account's passkey */
  beginPasskeySignIn(browser: BrowserFacts): Promise<WithCookies<unknown>>;
  /**
   * Signs in.
   * @param response `AuthenticationResponseJSON` of the browser
   * @throws wrong_code if it is not valid, ended
   */
  signInWithPasskey(response: unknown, browser: BrowserFacts): Promise<WithCookies<SignedIn>>;
}

/** A mail with the link to set a new password. */
export interface ResetMail {
  readonly to: string;
  readonly url: string;
  readonly validMinutes: number;
}

/** A mail with the link of an invitation. */
export interface InvitationMail {
  readonly to: string;
  readonly url: string;
  readonly tenantName: string;
}

/** A mail with the link that confirms a new address of an account. */
export interface NewAddressMail {
  readonly to: string;
  readonly url: string;
  readonly validMinutes: number;
}

/** A mail to the old address of an account, when a new one was requested or has replaced it. */
export interface AddressChangeMail {
  readonly to: string;
  readonly newAddress: string;
  readonly isDone: boolean;
}

export interface AccountMailer {
  /** Sends the mail. @throws when it can be neither sent nor written to the outbox */
  sendReset(mail: ResetMail): Promise<void>;
  /** @throws as `sendReset` */
  sendInvitation(mail: InvitationMail): Promise<void>;
  /** @throws as `sendReset` */
  sendNewAddress(mail: NewAddressMail): Promise<void>;
  /** @throws as `sendReset` */
  sendAddressChange(mail: AddressChangeMail): Promise<void>;
}

/**
 * Limits how many codes of a person are compared. They are counted before the comparison, so concurrent tries are
 * limited, too.
 */
export interface CodeTries {
  /**
   * Uses one of the tries left since the last right code.
   * @returns false if none is left; the codes are then locked for `CODES_LOCKED_MS`
   */
  take(personId: string): Promise<boolean>;
  /** Returns a try for which no code was compared. */
  giveBack(personId: string): Promise<void>;
  /** Resets the count after a right code. */
  clear(personId: string): Promise<void>;
}

/** Counts attempts in windows of 15 minutes. */
export interface AttemptLimiter {
  /**
   * Counts an attempt.
   * @param id the account, address or code whose attempts are counted
   * @returns milliseconds until the next attempt is allowed; 0 if this one is
   */
  attempt(kind: 'account' | 'address' | 'code', id: string): Promise<number>;
}
