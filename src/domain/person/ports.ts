import type { Invitation } from './invitation.ts';
import type { Grants, Member, Person, Role, SignedIn } from './person.ts';

/** The store of grants and invitations. */
export interface PeopleRepository {
  /** What a person may do; nothing for an unknown one. */
  grantsOf(personId: string): Promise<Grants>;
  /** The people of a tenant, by name. */
  membersOf(tenantId: string): Promise<Member[]>;
  /**
   * Changes a person's role in a tenant, or removes it (null); the last owner's stays.
   * @returns false if nothing was changed: the person is the last owner, or is no member
   */
  changeRole(personId: string, tenantId: string, role: Role | null): Promise<boolean>;
  /** Adds grants to those of a person. A new role in a tenant replaces the old one. */
  grant(personId: string, grants: Grants): Promise<void>;
  /** Those of these places, as `placeOf` writes them, that still exist. */
  validPlaces(places: readonly string[]): Promise<Set<string>>;
  insertInvitation(invitation: Invitation): Promise<void>;
  /**
   * Reserves an invitation for an address, so that one person alone can use it.
   * @param email in lower case
   * @returns null if it does not exist, has expired, or is for or reserved for another address
   */
  reserveInvitation(id: string, email: string, now: Date): Promise<Invitation | null>;
  removeInvitation(id: string): Promise<void>;
}

/** What a request tells of the browser. */
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

/** Accounts with passwords, and their sessions in cookies. Every method may be called with hostile input. */
export interface Accounts {
  /**
   * Makes an account. The address counts as confirmed.
   * @param email in lower case
   * @throws {AccountExists} possibly; an existing account is left as it is in any case
   */
  create(account: { readonly email: string; readonly name: string; readonly password: string }): Promise<void>;
  /** Begins a session. @returns null if there is no such account with this password */
  signIn(
    credentials: { readonly email: string; readonly password: string },
    browser: BrowserFacts,
  ): Promise<WithCookies<SignedIn> | null>;
  /** Ends the session, if there is one. */
  signOut(browser: BrowserFacts): Promise<WithCookies<void>>;
  /** Who is signed in; null if nobody is. */
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
  /** Sets the password and ends all sessions. @returns whose password it is; null if the token is unknown, used or expired */
  resetPassword(token: string, newPassword: string): Promise<Person | null>;
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

export interface AccountMailer {
  /** @throws when the mail can be neither sent nor written to the outbox */
  sendReset(mail: ResetMail): Promise<void>;
  /** @throws as `sendReset` */
  sendInvitation(mail: InvitationMail): Promise<void>;
}

/** Counts attempts in windows of 15 minutes. */
export interface AttemptLimiter {
  /**
   * @param id of whom the attempts are counted
   * @returns milliseconds until the next attempt is allowed; 0 if this one is
   */
  attempt(kind: 'account' | 'address', id: string): Promise<number>;
}
