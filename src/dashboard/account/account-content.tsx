import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { forgetKept } from '../interface/kept.ts';
import { useLanguage } from '../interface/language.tsx';
import { Skeleton } from '../interface/skeleton.tsx';
import { useSession, workspaceAddress } from '../workspace/session.ts';
import { callAccounts } from './account-api.ts';
import { AccountForm } from './account-form.tsx';
import { OwnDetails } from './own-details.tsx';
import { SecondFactors } from './second-factors.tsx';
import { Sessions } from './sessions.tsx';

/** The signed-in person and their roles, and forms for password, second factors, sessions, name and address. */
export function AccountContent() {
  const { texts } = useLanguage();
  const { account } = texts;
  const { route } = useLocation();
  const found = useSession();
  const [failed, setFailed] = useState(false);
  const [isChanged, setChanged] = useState(false);
  const [newName, setNewName] = useState<string | null>(null);

  async function signOut() {
    const { refusal } = await callAccounts('sign-out', {});
    if (refusal !== null) return setFailed(true);
    forgetKept();
    route('/sign-in', true);
  }

  async function readName() {
    const outcome = await callAccounts('session');
    if (outcome.refusal === null && outcome.session) setNewName(outcome.session.person.name);
  }

  if (found === null) return <Skeleton />;
  if (failed || found.refusal !== null || found.session === null)
    return (
      <p class="refusal" role="alert">
        {account.refusals.unreachable}
      </p>
    );
  const { person, addressConfirmed, isOperator, memberships } = found.session;
  return (
    <div class="account-page">
      <section class="identity">
        <h1>
          <bdi>{newName ?? person.name}</bdi>
        </h1>
        <p class="under">
          <bdi dir="ltr">{person.email}</bdi>
        </p>
        {!addressConfirmed && (
          <p>
            {account.unconfirmed} <a href="/forgotten-password">{account.forgotten.submit}</a>
          </p>
        )}
        <button type="button" class="secondary" onClick={signOut}>
          {account.signOut}
        </button>
      </section>
      <section class="card" aria-labelledby="roles">
        <h2 id="roles">{account.roles}</h2>
        {!isOperator && memberships.length === 0 && <p class="under">{account.noRoles}</p>}
        <ul class="roles">
          {isOperator && (
            <li>
              <span>{account.service}</span>
              <strong>{account.operator}</strong>
              <a href="/ops">{texts.operators.title}</a>
              {/* Pages outside this program, which its router must leave to the browser. */}
              <a href="/ops/jobs/" target="_blank" rel="noopener">
                {account.jobs}
              </a>
              <a href="/metrics" target="_blank" rel="noopener">
                {account.metrics}
              </a>
            </li>
          )}
          {memberships.map(({ tenantId, name, role }) => (
            <li key={tenantId}>
              <bdi>{name}</bdi>
              <span>
                <a href={`${workspaceAddress(tenantId, 'test')}/home`}>{texts.workspace.test}</a>{' '}
                <a href={`${workspaceAddress(tenantId, 'live')}/home`}>{texts.workspace.live}</a>
              </span>
              <strong>{account.roleNames[role]}</strong>
            </li>
          ))}
        </ul>
      </section>
      <section class="card" aria-labelledby="password">
        <h2 id="password">{account.change.title}</h2>
        <p class="under" role="status">
          {isChanged ? account.change.done : account.change.lead}
        </p>
        <AccountForm
          path="change-password"
          fields={['currentPassword', 'newPassword']}
          submit={account.change.submit}
          username={person.email}
          stays
          onSuccess={() => setChanged(true)}
        />
      </section>
      <SecondFactors email={person.email} />
      <Sessions />
      <OwnDetails email={person.email} onRenamed={() => void readName()} />
    </div>
  );
}
