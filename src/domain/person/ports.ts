import type { Invitation, InvitationState } from './invitation.ts';
import type { Grants, Member, Person, Role, SignedIn } from './person.ts';

/** The store of grants and invitations. */
export interface PeopleRepository {
  /** The rights of a person; an unknown person has none. */
  grantsOf(personId: string): Promise<Grants>;
  /** The people of a tenant, by name; at most `MAX_MEMBERS`. */
  membersOf(tenantId: string): Promise<Member[]>;
  /** One of them; null if the person does not belong to the tenant. */
  memberOf(tenantId: string, personId: string): Promise<Member | null>;
  /**
   * Changes a person's role in a tenant, or removes it (null); the last owner's stays.
   * @returns false if nothing was changed: the person is the last owner, or is no member
   */
  changeRole(personId: string, tenantId: string, role: Role | null): Promise<boolean>;
  /** Adds grants to those of a person. A new role in a tenant replaces the old one. */
  grant(personId: string, grants: Grants): Promise<void>;
  /** The places among these that still exist, as `placeOf` writes them. */
  validPlaces(places: readonly string[]): Promise<Set<string>>;
  /**
   * Removes codes and passkeys of the account with this address (in lower case), and ends its sessions: for a person who
   * has lost them.
   * @returns whose they were; null if there is no such account
   */
  removeSecondFactors(email: string): Promise<Person | null>;
  /** Ends the rights of an operator with this address (in lower case). @returns whose they were; null if there is none */
  removeOperator(email: string): Promise<Person | null>;
  insertInvitation(invitation: Invitation): Promise<void>;
  /**
   * Reserves an invitation for an address, so that one person alone can use it.
   * @param email in lower case
   * @returns null if it does not exist, has expired, or is for or reserved for another address
   */
  reserveInvitation(id: string, email: string, now: Date): Promise<Invitation | null>;
  /**
   * Decides that a reserved invitation is accepted: from here on it cannot be withdrawn, and its grants may be added, by
   * the caller alone for `CLAIM_MS`.
   * @param email for which it is reserved
   * @returns false if it was withdrawn, was used or has expired meanwhile, or is being accepted by another request
   */
  claimInvitation(id: string, email: string, now: Date): Promise<boolean>;
  /** An invitation that is valid at `now`, or would be if it had not ended; null if there is none. */
  findInvitation(
    id: string,
    now: Date,
  ): Promise<{
    readonly invitation: Invitation;
    readonly ended: Extract<InvitationState, 'used' | 'revoked'> | null;
  } | null>;
  /** Ends an invitation whose grants were added. */
  endInvitation(id: string): Promise<void>;
  /** Up to `limit` invitations into a tenant that can be withdrawn at `now`, those first that end first. */
  invitationsOf(tenantId: string, limit: number, now: Date): Promise<Invitation[]>;
  /** Withdraws an invitation into this tenant. @returns false if there is none, or somebody has accepted it */
  revokeInvitation(tenantId: string, id: string, now: Date): Promise<boolean>;
}

/** The facts that a request tells about the browser. */
export interface BrowserFacts {
  /** The request's header `Cookie`. */
  readonly cookie: string | undefined;
  /** The request's header `User-Agent`. */
  readonly userAgent: string | undefined;
  /** The client's network address. */
  readonly address: string;
}

/** An outcome that sets cookies in the browser: values of `Set-Cookie`. */
export interface WithCookies<Result> {
  readonly result: Result;
  readonly cookies: readonly string[];
}

/** The account of an address exists already. */
export class AccountExists extends Error {
  override readonly name = 'AccountExists';
}

/** The result of a right password. */
export interface PasswordAccepted {
  readonly person: Person;
  /** Null: the account has a second factor, whose code begins the session (`SecondFactors.signInWithCode`). */
  readonly session: SignedIn | null;
}

/** Accounts with passwords, and their sessions in cookies. Every method may be called with hostile input. */
export interface Accounts {
  /**
   * The account of an address; null if there is none.
   * @param email in lower case. For those who may know it alone: it tells who has an account
   */
  find(email: string): Promise<{ readonly isConfirmed: boolean } | null>;
  /**
   * Makes an account.
   * @param email in lower case
   * @param isConfirmed whether a mail has shown that the address is the person's. If not, the first new password that is set
   *   with a mail removes codes, passkeys and sessions: somebody else may have made the account
   * @throws {AccountExists} possibly; an existing account is left as it is in any case
   */
  create(
    account: { readonly email: string; readonly name: string; readonly password: string },
    isConfirmed: boolean,
  ): Promise<void>;
  /**
   * Gives an account that nobody has confirmed to whom a mail has shown to read the address, as a new password by mail does:
   * with name and password, without the codes, passkeys, sessions and links of whoever made it.
   * @param email in lower case
   * @returns whose it is; null, and nothing is changed, if it has this password: whoever made it may know it
   */
  takeOver(account: {
    readonly email: string;
    readonly name: string;
    readonly password: string;
  }): Promise<Person | null>;
  /** Begins a session, or the wait for a second factor. @returns null if there is no such account with this password */
  signIn(
    credentials: { readonly email: string; readonly password: string },
    browser: BrowserFacts,
  ): Promise<WithCookies<PasswordAccepted> | null>;
  /** Ends the session, if there is one. */
  signOut(browser: BrowserFacts): Promise<WithCookies<void>>;
  /** The person who is signed in; null if nobody is. */
  session(browser: BrowserFacts): Promise<WithCookies<SignedIn> | null>;
  /**
   * Changes the password, ends all sessions and begins one.
   * @returns null if nobody is signed in; false if the current password is wrong
   */
  changePassword(
    change: { readonly currentPassword: string; readonly newPassword: string },
    browser: BrowserFacts,
  ): Promise<WithCookies<true> | false | null>;
  /** Sends a mail with a link if there is such an account. Resolves before the mail is sent. */
  requestReset(email: string): Promise<void>;
  /** Whose password a link of `requestReset` sets; null if the token is unknown, used or expired. It is left valid. */
  personOfReset(token: string): Promise<Person | null>;
  /** Sets the password and ends all sessions. @returns whose password it is; null if the token is unknown, used or expired */
  resetPassword(token: string, newPassword: string): Promise<Person | null>;
}

/** A browser in which a person is signed in. */
export interface OpenSession {
  readonly id: string;
  /** The header `User-Agent` with which it was begun; null if there was none. */
  readonly userAgent: string | null;
  /** The network address from which it was begun; null if it is unknown. */
  readonly address: string | null;
  /** UTC. */
  readonly begunAt: Date;
  /** UTC, to the hour. */
  readonly usedAt: Date;
}

/** What people see and change of their own account. Every method may be called with hostile input. */
export interface OwnAccount {
  /** At most `MAX_SESSIONS`, those first that were used last. */
  sessions(personId: string): Promise<OpenSession[]>;
  /** Ends a session of this person at once. @returns false if there is none with this id */
  endSession(personId: string, id: string): Promise<boolean>;
  /** Ends all sessions of this person but one. */
  endOthers(personId: string, keptId: string): Promise<void>;
  rename(personId: string, name: string): Promise<void>;
  /**
   * Makes the token of a link that confirms another address of the account of whoever is signed in.
   * @param email in lower case
   */
  beginNewAddress(
    email: string,
    password: string,
    browser: BrowserFacts,
  ): Promise<{ readonly refusal: null; readonly token: string } | { readonly refusal: 'ended' | 'wrong_password' }>;
  /**
   * Gives the account the address of the token, as a confirmed one, ends its other sessions and everything that was begun
   * with the old address. Whoever has the link must also be signed in to the account: otherwise somebody could lead the
   * reader of a mail to confirm an account that is not theirs.
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

/** Tells passwords that guessing finds soon. */
export interface PasswordJudge {
  /**
   * @param password of any length that is not hostile
   * @param words what somebody who guesses would try first for this person: the name, the address
   */
  isGuessable(password: string, words: readonly string[]): Promise<boolean>;
}

/** A passkey of a person (WebAuthn Level 2). */
export interface Passkey {
  readonly id: string;
  /** As the person named it. */
  readonly name: string;
  /** UTC. */
  readonly createdAt: Date;
}

/** The second factors of an account. */
export interface SecondFactorState {
  /** Whether signing in by password asks for a code of an authenticator. */
  readonly hasCodes: boolean;
  /** Recovery codes that were not used; 0 without codes. */
  readonly recoveryCodesLeft: number;
  /** The oldest first. */
  readonly passkeys: readonly Passkey[];
}

/** The secret that an authenticator needs to compute codes (RFC 6238: SHA-1, 6 digits, 30 s). Shown once. */
export interface NewCodes {
  /** `otpauth://totp/…` with the secret. */
  readonly uri: string;
  readonly recoveryCodes: readonly string[];
}

/** Why something with a second factor was not done. */
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
 * Codes of an authenticator beside the password, with recovery codes, and passkeys, which replace both. Changes take the
 * password, so that an unattended browser is not enough. Every method may be called with hostile input, and throws
 * {SecondFactorRefused}.
 */
export interface SecondFactors {
  /** @param browser somebody who is signed in */
  stateOf(person: Person, browser: BrowserFacts): Promise<SecondFactorState>;
  /** Makes a secret that counts once `confirmCodes` has seen a code of it. @throws exists, wrong_password */
  beginCodes(password: string, browser: BrowserFacts): Promise<NewCodes>;
  /**
   * From here on a password alone begins no session. The code is used up.
   * @throws wrong_code, none; exists if a code was confirmed before
   */
  confirmCodes(code: string, browser: BrowserFacts): Promise<WithCookies<void>>;
  /** @throws wrong_password */
  removeCodes(password: string, browser: BrowserFacts): Promise<WithCookies<void>>;
  /** Replaces the recovery codes. @throws wrong_password, none */
  newRecoveryCodes(password: string, browser: BrowserFacts): Promise<readonly string[]>;
  /**
   * Begins the session that `Accounts.signIn` left open.
   * @param code of the authenticator, or a recovery code, which is used up
   * @throws wrong_code; ended after 5 wrong codes or 10 minutes; locked after 10 wrong codes in a row, for 15 minutes
   */
  signInWithCode(code: string, browser: BrowserFacts): Promise<WithCookies<SignedIn>>;
  /** @returns `PublicKeyCredentialCreationOptionsJSON`. @throws wrong_password, too_many */
  beginPasskey(password: string, browser: BrowserFacts): Promise<WithCookies<unknown>>;
  /** @param response `RegistrationResponseJSON` of the browser. @throws wrong_code if it is not valid, ended */
  addPasskey(name: string, response: unknown, browser: BrowserFacts): Promise<Passkey>;
  /** @throws wrong_password, none */
  removePasskey(id: string, password: string, browser: BrowserFacts): Promise<void>;
  /** @returns `PublicKeyCredentialRequestOptionsJSON` for any account's passkey */
  beginPasskeySignIn(browser: BrowserFacts): Promise<WithCookies<unknown>>;
  /** @param response `AuthenticationResponseJSON` of the browser. @throws wrong_code if it is not valid, ended */
  signInWithPasskey(response: unknown, browser: BrowserFacts): Promise<WithCookies<SignedIn>>;
}

/** A mail with the link to a new password. */
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

/** A mail with the link that confirms another address of an account. */
export interface NewAddressMail {
  readonly to: string;
  readonly url: string;
  readonly validMinutes: number;
}

/** A mail to the address that an account has, or had: another one was asked for, or has replaced it. */
export interface AddressChangeMail {
  readonly to: string;
  readonly newAddress: string;
  readonly isDone: boolean;
}

export interface AccountMailer {
  /** @throws when the mail can be neither sent nor written to the outbox */
  sendReset(mail: ResetMail): Promise<void>;
  /** @throws as `sendReset` */
  sendInvitation(mail: InvitationMail): Promise<void>;
  /** @throws as `sendReset` */
  sendNewAddress(mail: NewAddressMail): Promise<void>;
  /** @throws as `sendReset` */
  sendAddressChange(mail: AddressChangeMail): Promise<void>;
}

/** Counts the codes of a person that are compared, before they are: also those that are sent at once are limited. */
export interface CodeTries {
  /**
   * Takes one of the tries that are left since the last right code.
   * @returns false if none is left: the codes are locked for `CODES_LOCKED_MS`
   */
  take(personId: string): Promise<boolean>;
  /** Gives one back that compared nothing. */
  giveBack(personId: string): Promise<void>;
  /** Begins anew, after a right code. */
  clear(personId: string): Promise<void>;
}

/** Counts attempts in windows of 15 minutes. */
export interface AttemptLimiter {
  /**
   * @param id of whom the attempts are counted
   * @returns milliseconds until the next attempt is allowed; 0 if this one is
   */
  attempt(kind: 'account' | 'address' | 'code', id: string): Promise<number>;
}
