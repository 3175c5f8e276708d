import { hkdfSync } from 'node:crypto';
import { createRecordOfPerson } from '../domain/audit/record-entries.ts';
import { createAcceptInvitation } from '../domain/person/accept-invitation.ts';
import { RESET_MS } from '../domain/person/limits.ts';
import type { AccountMailer, Accounts } from '../domain/person/ports.ts';
import { createAttemptLimiter } from '../storage/rate-limiter.ts';
import type { AccountRouteParts } from '../transport/accounts.ts';
import type { Data } from './data.ts';

export interface PeopleParts {
  readonly data: Data;
  readonly mailer: AccountMailer;
  readonly publicUrl: string;
}

/** The accounts of people, and the paths of them. The first request loads the library: it would delay each start. */
export function composeAccounts({ data, mailer, publicUrl }: PeopleParts): AccountRouteParts {
  const { db, client } = data.store;
  const { people } = data;
  const report = (err: unknown) => data.logFailure('error', 'the mail with the link to a new password failed', err);
  const accounts = loadedLater(async () => {
    const { createAccounts } = await import('../adapters/accounts/better-auth.ts');
    return createAccounts({
      ...{ db, client, publicUrl },
      secret: Buffer.from(hkdfSync('sha256', data.masterKey, new Uint8Array(), 'sessions', 32)).toString('base64url'),
      // Not awaited: the time of an answer would tell whether the account exists.
      sendReset: ({ email }, token) =>
        void mailer
          .sendReset({ to: email, url: `${publicUrl}/new-password#${token}`, validMinutes: RESET_MS / 60_000 })
          .catch(report),
      warn: (message) => data.logFailure('warn', 'the library of the accounts reports an error', message),
    });
  });
  return {
    ...{ accounts, people, report, tenants: data.tenants },
    record: createRecordOfPerson(people, data.audit, (err) =>
      data.logFailure('error', 'what a person did at the own account could not be recorded', err),
    ),
    acceptInvitation: createAcceptInvitation(accounts, people, data.audit, () => new Date()),
    attempts: createAttemptLimiter(data.alone ? null : db),
  };
}

/** Accounts whose library the first call loads. */
function loadedLater(load: () => Promise<Accounts>): Accounts {
  let loading: Promise<Accounts> | null = null;
  const loaded = (): Promise<Accounts> => {
    loading ??= load().catch((error) => {
      loading = null;
      throw error;
    });
    return loading;
  };
  return {
    create: async (account) => (await loaded()).create(account),
    signIn: async (credentials, browser) => (await loaded()).signIn(credentials, browser),
    signOut: async (browser) => (await loaded()).signOut(browser),
    session: async (browser) => (await loaded()).session(browser),
    changePassword: async (change, browser) => (await loaded()).changePassword(change, browser),
    requestReset: async (email) => (await loaded()).requestReset(email),
    resetPassword: async (token, password) => (await loaded()).resetPassword(token, password),
  };
}
