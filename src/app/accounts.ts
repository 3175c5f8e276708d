import { createHash } from 'node:crypto';
import type { LibraryParts } from '../adapters/accounts/library.ts';
import { createRecordOfPerson } from '../domain/audit/record-entries.ts';
import type { DataKey, DataKeys } from '../domain/data-keys.ts';
import { createAcceptInvitation } from '../domain/person/accept-invitation.ts';
import { RESET_MS } from '../domain/person/limits.ts';
import { createMailAddressChange } from '../domain/person/mail-address-change.ts';
import type { AccountMailer, Accounts, OwnAccount, PasswordJudge, SecondFactors } from '../domain/person/ports.ts';
import { createReadInvitation } from '../domain/person/read-invitation.ts';
import { createCodeTries } from '../storage/code-tries.ts';
import { createAttemptLimiter } from '../storage/rate-limiter.ts';
import type { AccountRouteParts } from '../transport/accounts/steps.ts';
import type { Data } from './data.ts';

export interface PeopleParts {
  readonly data: Data;
  readonly mailer: AccountMailer;
  readonly publicUrl: string;
  readonly passwords: PasswordJudge;
}

/**
 * Builds the accounts of people and the parts of their routes. The first request loads the accounts library, because
 * loading it would delay each start.
 */
export function composeAccounts({ data, mailer, publicUrl, passwords }: PeopleParts): AccountRouteParts {
  const { db, client } = data.store;
  const { people } = data;
  const report = (err: unknown) => data.logFailure('error', 'the mail with the link to a new password failed', err);
  const attempts = createAttemptLimiter(data.alone ? null : db);
  // Counted in the store even if this is the only process, because a code stays valid over a restart.
  const uses = createAttemptLimiter(db);
  const isFirstUse = async (personId: string, code: string) =>
    (await uses.attempt('code', createHash('sha256').update(`${personId} ${code}`).digest('hex'))) === 0;
  // Loads the library again when a new session key is in use.
  const loaded = loadedOnce(
    () => data.keys.sessions.newest().number,
    async () => {
      const [{ createLibrary }, { createAccounts }, { createOwnAccount }, { createSecondFactors }] = await Promise.all([
        import('../adapters/accounts/library.ts'),
        import('../adapters/accounts/accounts.ts'),
        import('../adapters/accounts/own-account.ts'),
        import('../adapters/accounts/second-factors.ts'),
      ]);
      const library = createLibrary({
        db,
        client,
        publicUrl,
        secrets: sessionSecrets(data.keys.sessions),
        // Not awaited: the response time would reveal whether the account exists.
        sendReset: ({ email }, token) =>
          void mailer
            .sendReset({ to: email, url: `${publicUrl}/new-password#${token}`, validMinutes: RESET_MS / 60_000 })
            .catch(report),
        warn: (message) => data.logFailure('warn', 'the library of the accounts reports an error', message),
      });
      return {
        accounts: createAccounts(library),
        ownAccount: createOwnAccount(library),
        secondFactors: createSecondFactors(library, isFirstUse, createCodeTries(db)),
      };
    },
  );
  const accounts = loadedLater<Accounts>(async () => (await loaded()).accounts);
  const record = createRecordOfPerson(people, data.audit, (err) =>
    data.logFailure('error', 'an action of a person on their account could not be recorded', err),
  );
  return {
    ownAccount: loadedLater<OwnAccount>(async () => (await loaded()).ownAccount),
    mailAddressChange: createMailAddressChange(mailer, publicUrl, (err) =>
      data.logFailure('error', 'a mail about the address of an account failed', err),
    ),
    secondFactors: loadedLater<SecondFactors>(async () => (await loaded()).secondFactors),
    accounts,
    people,
    report,
    attempts,
    passwords,
    record,
    tenants: data.tenants,
    readInvitation: createReadInvitation(people, data.tenants, () => new Date()),
    acceptInvitation: createAcceptInvitation(
      accounts,
      people,
      data.tenants,
      passwords,
      data.audit,
      record,
      () => new Date(),
    ),
  };
}

/** Returns the session secrets with their numbers: the current one first, then earlier ones. */
function sessionSecrets(keys: DataKeys): LibraryParts['secrets'] {
  const { number: newest } = keys.newest();
  const usable = keys.all().filter(({ number }) => number <= newest);
  const shown = ({ number, secret }: DataKey) => ({ version: number, value: secret.export().toString('base64url') });
  const [first, ...others] = usable.map(shown);
  if (!first) throw new Error('there is no key for sessions');
  return [first, ...others];
}

/**
 * Returns a function that loads the part at its first call, and again when `version` has changed or loading has failed.
 */
function loadedOnce<Part>(version: () => number, load: () => Promise<Part>): () => Promise<Part> {
  let loading: { readonly version: number; readonly part: Promise<Part> } | null = null;
  return () => {
    const wanted = version();
    if (loading?.version === wanted) return loading.part;
    const part = load().catch((error) => {
      if (loading?.part === part) loading = null;
      throw error;
    });
    loading = { version: wanted, part };
    return part;
  };
}

/** Returns a stand-in for an object whose methods all return promises. The first method call loads the object. */
function loadedLater<Part extends object>(load: () => Promise<Part>): Part {
  const call =
    (name: PropertyKey) =>
    async (...input: unknown[]) => {
      const part = await load();
      return (Reflect.get(part, name) as (...input: unknown[]) => unknown).apply(part, input);
    };
  // Has no `then`, so that `await` returns the stand-in itself.
  return new Proxy({} as Part, { get: (_target, name) => (name === 'then' ? undefined : call(name)) });
}
