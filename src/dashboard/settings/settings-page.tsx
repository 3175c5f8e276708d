import { useState } from 'preact/hooks';
import { LIVE_CONDITION_NAMES } from '../../domain/tenant/ports.ts';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { useTitle } from '../interface/use-title.ts';
import { useChange } from '../workspace/use-change.ts';
import { useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { SETTINGS, type Tenant, UPDATE_PROFILE } from './documents.ts';
import { profileChange, type TypedProfile, typedProfile } from './profile-change.ts';
import { ProfileFields } from './profile-fields.tsx';
import { ProfilePreview } from './profile-preview.tsx';

/** `…/settings`: the seller's profile with a preview of its invoices, and the missing conditions for live keys. */
export function SettingsPage() {
  const { texts } = useLanguage();
  const { data, problem, reload } = useRead(SETTINGS, {});
  const { title, lead } = texts.settings;
  useTitle(title);
  return (
    <section class="settings" aria-busy={!data && !problem}>
      <h1 class="title">{title}</h1>
      <p class="under">{lead}</p>
      <Refusal why={problem && 'unreachable'} onRetry={reload} />
      {data && <GoingLive tenant={data.tenant} />}
      {data && <Profile tenant={data.tenant} onChanged={reload} />}
    </section>
  );
}

/** Shows the conditions of live keys, and which of them are met. */
function GoingLive({ tenant: { missingForLive, seller } }: { tenant: Tenant }) {
  const { texts } = useLanguage();
  const { goingLive, conditions, fields, missing } = texts.settings;
  const { done, toDo } = texts.home;
  const names = seller.missingFields.map((field) => fields[field as keyof typeof fields] ?? field);
  return (
    <section class="part">
      <h2>{goingLive}</h2>
      <ul class="first-steps">
        {LIVE_CONDITION_NAMES.map((condition) => {
          const isDone = missingForLive.every((each) => each.condition !== condition);
          return (
            <li key={condition} data-done={isDone}>
              {conditions[condition]} <span class="unseen">{isDone ? done : toDo}</span>
              {condition === 'profile' && !isDone && <p class="hint">{missing(names.join(', '))}</p>}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Profile({ tenant: { seller }, onChanged }: { tenant: Tenant; onChanged: () => void }) {
  const { texts } = useLanguage();
  const { tenant } = useWorkspace();
  const [typed, setTyped] = useState<TypedProfile>(() => typedProfile(seller));
  const [isSaved, setSaved] = useState(false);
  const saving = useChange(UPDATE_PROFILE);
  const change = profileChange(seller, typed);
  const isChanged = Object.keys(change).length > 0;
  const isOwner = tenant.role === 'owner';
  const { save, saved, unsaved, forOwners, profile } = texts.settings;

  async function send(): Promise<void> {
    if (!(await saving.run({ input: change }))) return;
    // The service may have normalized the typed values.
    setTyped((now) => ({ ...now, logo: undefined }));
    setSaved(true);
    onChanged();
  }
  return (
    <>
      <form
        class="card part"
        aria-busy={saving.busy}
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <h2>{profile}</h2>
        {!isOwner && <p class="under">{forOwners}</p>}
        <fieldset class="plain" disabled={!isOwner}>
          <ProfileFields
            seller={seller}
            typed={typed}
            onTyped={(next) => {
              setSaved(false);
              setTyped(next);
            }}
          />
        </fieldset>
        <Refusal why={saving.refusal} />
        {isOwner && (
          <p class="actions">
            <button type="submit" class="primary" aria-disabled={saving.busy || !isChanged}>
              {save}
            </button>
            <span role="status">{isChanged ? unsaved : isSaved && saved}</span>
          </p>
        )}
      </form>
      {isOwner && <ProfilePreview change={change} />}
    </>
  );
}
