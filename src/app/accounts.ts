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

/** The accounts of people, and the paths of them. The first request loads the library: it would delay each start. */
export function composeAccounts({ data, mailer, publicUrl, passwords }: PeopleParts): AccountRouteParts {
  const { db, client } = data.store;
  const { people } = data;
  const report = (err: unknown) => data.logFailure('error', 'the mail with the link to a new password failed', err);
  const attempts = createAttemptLimiter(data.alone ? null : db);
  // In the store also if this is the only process: a code outlives a restart.
  const uses = createAttemptLimiter(db);
  const isFirstUse = async (personId: string, code: string) =>
    (await uses.attempt('code', createHash('sha256').update(`${personId} ${code}`).digest('hex'))) === 0;
  // Anew with each new key of the sessions.
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
        // Not awaited: the time of an answer would tell whether the account exists.
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

/** The secrets of the sessions with their numbers: the one in use, then those before it. */
function sessionSecrets(keys: DataKeys): LibraryParts['secrets'] {
  const { number: newest } = keys.newest();
  const usable = keys.all().filter(({ number }) => number <= newest);
  const shown = ({ number, secret }: DataKey) => ({ version: number, value: secret.export().toString('base64url') });
  const [first, ...others] = usable.map(shown);
  if (!first) throw new Error('there is no key for sessions');
  return [first, ...others];
}

/** Loads the part at the first call, and again when `version` has changed. A call after a failure tries again. */
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

/** Stands for an object, all of whose methods return promises, which the first call loads. */
function loadedLater<Part extends object>(load: () => Promise<Part>): Part {
  const call =
    (name: PropertyKey) =>
    async (...input: unknown[]) => {
      const part = await load();
      return (Reflect.get(part, name) as (...input: unknown[]) => unknown).apply(part, input);
    };
  // Not `then`: whoever awaits this object wants the object.
  return new Proxy({} as Part, { get: (_target, name) => (name === 'then' ? undefined : call(name)) });
}
