import type { TargetedSubmitEvent } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { ROLES } from '../../domain/person/person.ts';
import { ConfirmedButton } from '../interface/confirmed-button.tsx';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { SecretOnce } from '../interface/secret-once.tsx';
import { useTitle } from '../interface/use-title.ts';
import { formatMoment } from '../text/dates.ts';
import { useChange, useSharedRefusal } from '../workspace/use-change.ts';
import { useRead, useWorkspace } from '../workspace/workspace-context.ts';
import {
  INVITATIONS,
  INVITE,
  MEMBERS,
  type Member,
  REMOVE,
  REVOKE_INVITATION,
  type Role,
  SET_ROLE,
} from './documents.ts';

/** `…/people`: the members of the tenant. Owners invite, change and remove them. */
export function PeoplePage() {
  const { texts } = useLanguage();
  const { tenant } = useWorkspace();
  const { data, problem, reload } = useRead(MEMBERS, {});
  const shared = useSharedRefusal();
  const [changing, removing] = [useChange(SET_ROLE, shared), useChange(REMOVE, shared)];
  const [link, setLink] = useState<string | null>(null);
  const { title, lead, made } = texts.people;
  const isOwner = tenant.role === 'owner';
  useTitle(title);
  return (
    <section aria-busy={!data && !problem}>
      <h1 class="title">{title}</h1>
      <p class="under">{lead}</p>
      {link !== null && <SecretOnce label={made} secret={link} onDone={() => setLink(null)} />}
      <Refusal why={problem ? 'unreachable' : shared[0]} onRetry={reload} />
      <ul class="log">
        {data?.members.map((member) => (
          <MemberRow
            member={member}
            key={member.id}
            onRole={isOwner ? (role) => void changing.run({ id: member.id, role }).then(reload) : null}
            onRemove={isOwner || member.current ? () => void removing.run({ id: member.id }).then(reload) : null}
          />
        ))}
      </ul>
      {isOwner && <OpenInvitations key={link} />}
      {isOwner && <Invitation onMade={setLink} />}
    </section>
  );
}

interface MemberRowProps {
  readonly member: Member;
  readonly onRole: ((role: Role) => void) | null;
  readonly onRemove: (() => void) | null;
}

function MemberRow({ member: { name, email, addressConfirmed, role, current }, onRole, onRemove }: MemberRowProps) {
  const { texts } = useLanguage();
  const { you, unconfirmed, roleOf, remove, removeQuestion, leave, leaveQuestion } = texts.people;
  return (
    <li>
      <strong>
        <bdi>{name}</bdi> {current && <span class="under">({you})</span>}
      </strong>
      <span>
        <bdi dir="ltr">{email}</bdi> {!addressConfirmed && <span class="under">({unconfirmed})</span>}
      </span>
      {onRole ? <RoleChoice label={roleOf(name)} role={role} onChange={onRole} /> : texts.account.roleNames[role]}
      {onRemove && (
        <span class="row-actions">
          <ConfirmedButton question={current ? leaveQuestion : removeQuestion(name)} onConfirm={onRemove}>
            {current ? leave : remove}
          </ConfirmedButton>
        </span>
      )}
    </li>
  );
}

function RoleChoice({ label, role, onChange }: { label: string; role: Role; onChange: (role: Role) => void }) {
  const { texts } = useLanguage();
  return (
    <select
      aria-label={label}
      value={role}
      onChange={({ currentTarget: { value } }) => {
        const chosen = ROLES.find((each) => each === value);
        if (chosen) onChange(chosen);
      }}
    >
      {ROLES.map((each) => (
        <option value={each} key={each}>
          {texts.account.roleNames[each]}
        </option>
      ))}
    </select>
  );
}

/** Shows the invitations that have not been accepted yet. */
function OpenInvitations() {
  const { texts, language } = useLanguage();
  const { open, whoever, until, revoke, revokeQuestion } = texts.people;
  const { data, problem, reload } = useRead(INVITATIONS, {});
  const revoking = useChange(REVOKE_INVITATION);
  if (data?.invitations.length === 0) return null;
  return (
    <section class="part" aria-busy={!data && !problem}>
      <h2>{open}</h2>
      <Refusal why={problem ? 'unreachable' : revoking.refusal} onRetry={reload} />
      <ul class="log">
        {data?.invitations.map(({ id, email, role, expiresAt }) => (
          <li key={id}>
            <strong>{texts.account.roleNames[role]}</strong>
            {email === null ? <span>{whoever}</span> : <bdi dir="ltr">{email}</bdi>}
            <span>
              {until} <time dateTime={expiresAt}>{formatMoment(expiresAt, language)}</time>
            </span>
            <span class="row-actions">
              <ConfirmedButton question={revokeQuestion} onConfirm={() => void revoking.run({ id }).then(reload)}>
                {revoke}
              </ConfirmedButton>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Invitation({ onMade }: { onMade: (link: string) => void }) {
  const { texts } = useLanguage();
  const { invite, inviteLead, email, role: roleLabel, send, roles } = texts.people;
  const inviting = useChange(INVITE);
  const form = useRef<HTMLFormElement>(null);
  const [role, setRole] = useState<Role>('viewer');

  async function submit(event: TargetedSubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const address = String(new FormData(event.currentTarget).get('email')).trim();
    const made = await inviting.run({ role, ...(address !== '' && { email: address }) });
    if (!made) return;
    form.current?.reset();
    onMade(made.link);
  }

  return (
    <form ref={form} class="card account-form new-endpoint" onSubmit={submit} aria-busy={inviting.busy}>
      <h2>{invite}</h2>
      <p class="under">{inviteLead}</p>
      <Refusal why={inviting.refusal} />
      <label class="field">
        {email}
        <input type="email" name="email" maxLength={254} dir="ltr" autocomplete="off" />
      </label>
      <div class="field">
        <span aria-hidden="true">{roleLabel}</span>
        <RoleChoice label={roleLabel} role={role} onChange={setRole} />
        <p class="hint">{roles[role]}</p>
      </div>
      <button type="submit" class="primary" aria-disabled={inviting.busy}>
        {send}
      </button>
    </form>
  );
}
