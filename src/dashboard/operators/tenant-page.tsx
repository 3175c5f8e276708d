import { useState } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import { ROLES } from '../../domain/person/person.ts';
import { LIVE_CONDITION_NAMES } from '../../domain/tenant/ports.ts';
import { ENVIRONMENTS } from '../../domain/tenant/tenant.ts';
import { ConfirmedButton } from '../interface/confirmed-button.tsx';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { SecretOnce } from '../interface/secret-once.tsx';
import { useTitle } from '../interface/use-title.ts';
import type { Seller } from '../settings/documents.ts';
import { profileChange, type TypedProfile, typedProfile } from '../settings/profile-change.ts';
import { ProfileFields } from '../settings/profile-fields.tsx';
import { formatDate } from '../text/dates.ts';
import { type TenantDetails, useOperatorChange, useOperatorRead } from './operator-api.ts';

interface ProfileProps {
  readonly seller: Seller;
  readonly busy: boolean;
  readonly onSave: (change: object) => void;
}

/** The form for the seller's profile. */
function Profile({ seller, busy, onSave }: ProfileProps) {
  const { settings } = useLanguage().texts;
  const [typed, setTyped] = useState<TypedProfile>(() => typedProfile(seller));
  const change = profileChange(seller, typed);
  const isChanged = Object.keys(change).length > 0;
  return (
    <form
      class="card part"
      onSubmit={(event) => {
        event.preventDefault();
        if (isChanged && !busy) onSave(change);
      }}
    >
      <h2>{settings.profile}</h2>
      <ProfileFields seller={seller} typed={typed} onTyped={setTyped} />
      <p class="actions">
        <button type="submit" class="secondary" aria-disabled={busy || !isChanged}>
          {settings.save}
        </button>
        <span role="status">{isChanged && settings.unsaved}</span>
      </p>
    </form>
  );
}

/** `/ops/tenants/<id>`: a tenant with its keys, its missing conditions for live keys, invitations and suspension. */
export function TenantPage() {
  const { texts, language } = useLanguage();
  const { operators, settings, home } = texts;
  const { id = '' } = useRoute().params;
  const address = `tenants/${encodeURIComponent(id)}`;
  const { data, refusal, reload } = useOperatorRead<TenantDetails>(address);
  const change = useOperatorChange();
  const [secret, setSecret] = useState<{ readonly label: string; readonly text: string } | null>(null);
  useTitle(data?.name ?? operators.tenants);

  async function run(path: string, input: object = {}): Promise<void> {
    await change.run(path, input);
    reload();
  }
  async function createKey(environment: (typeof ENVIRONMENTS)[number]) {
    const made = await change.run<{ token: string }>(`${address}/keys`, { kind: 'secret', environment });
    if (made) setSecret({ label: texts.keys.made, text: made.token });
    reload();
  }
  async function invite(role: (typeof ROLES)[number]) {
    const made = await change.run<{ link: string }>(`${address}/invitations`, { role });
    if (made) setSecret({ label: texts.people.made, text: made.link });
  }
  if (data === null)
    return (
      <section aria-busy={refusal === null}>
        <h1 class="title">{operators.tenants}</h1>
        <Refusal why={refusal} />
      </section>
    );
  const missing = data.seller.missingFields.map(
    (each) => settings.fields[each as keyof typeof settings.fields] ?? each,
  );
  return (
    <section class="settings">
      <h1 class="title">
        <bdi>{data.name}</bdi>
      </h1>
      <p class="under">
        <code dir="ltr">{data.id}</code>{' '}
        {data.suspendedAt && <span class="badge attention">{operators.suspended}</span>}
      </p>
      <Refusal why={change.refusal ?? refusal} />
      {secret && <SecretOnce label={secret.label} secret={secret.text} onDone={() => setSecret(null)} />}
      <dl class="facts">
        <div>
          <dt>{texts.keys.createdOn}</dt>
          <dd>
            <time dateTime={data.createdAt}>{formatDate(data.createdAt, language)}</time>
          </dd>
        </div>
      </dl>
      <section class="part">
        <h2>{settings.goingLive}</h2>
        <ul class="first-steps">
          {LIVE_CONDITION_NAMES.map((condition) => {
            const isDone = data.missingForLive.every((each) => each.condition !== condition);
            return (
              <li key={condition} data-done={isDone}>
                {settings.conditions[condition]} <span class="unseen">{isDone ? home.done : home.toDo}</span>
                {condition === 'profile' && !isDone && <p class="hint">{settings.missing(missing.join(', '))}</p>}
              </li>
            );
          })}
        </ul>
      </section>
      <Profile
        key={JSON.stringify(data.seller)}
        seller={data.seller}
        busy={change.busy}
        onSave={(fields) => void run(`${address}/profile`, fields)}
      />
      <section class="part">
        <h2>{texts.people.title}</h2>
        <p class="under">{operators.inviteLead}</p>
        <p class="actions">
          {ROLES.map((role) => (
            <button type="button" class="secondary" key={role} onClick={() => void invite(role)}>
              {operators.inviteAs(texts.account.roleNames[role])}
            </button>
          ))}
        </p>
      </section>
      <section class="part">
        <h2>{texts.keys.title}</h2>
        <p class="actions">
          {ENVIRONMENTS.map((environment) => (
            <button type="button" class="secondary" key={environment} onClick={() => void createKey(environment)}>
              {texts.keys.make.secret} ({texts.workspace[environment]})
            </button>
          ))}
        </p>
        <ul class="log">
          {data.keys.map(({ id: keyId, kind, environment, lastFour, createdAt, revokedAt }) => (
            <li key={keyId} data-revoked={revokedAt !== null}>
              <strong>{texts.keys.kinds[kind]}</strong>
              <code dir="ltr">
                {kind === 'secret' ? 'sk' : 'pk'}_{environment}_…{lastFour}
              </code>
              <span>
                {texts.keys.createdOn} <time dateTime={createdAt}>{formatDate(createdAt, language)}</time>
              </span>
              {revokedAt === null ? (
                <span class="row-actions">
                  <ConfirmedButton
                    question={texts.keys.revokeQuestion}
                    onConfirm={() => void run(`keys/${keyId}/revoke`)}
                  >
                    {texts.keys.revoke}
                  </ConfirmedButton>
                </span>
              ) : (
                <span>
                  {texts.keys.revokedOn} <time dateTime={revokedAt}>{formatDate(revokedAt, language)}</time>
                </span>
              )}
            </li>
          ))}
        </ul>
      </section>
      <section class="part">
        <h2>{operators.suspension}</h2>
        <p class="under">{operators.suspensionLead}</p>
        <p class="actions">
          {data.suspendedAt ? (
            <ConfirmedButton question={operators.unsuspendQuestion} onConfirm={() => void run(`${address}/resume`)}>
              {operators.unsuspend}
            </ConfirmedButton>
          ) : (
            <ConfirmedButton question={operators.suspendQuestion} onConfirm={() => void run(`${address}/suspend`)}>
              {operators.suspend}
            </ConfirmedButton>
          )}
        </p>
      </section>
    </section>
  );
}
