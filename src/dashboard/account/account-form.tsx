import type { TargetedSubmitEvent } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { MIN_PASSWORD, PERSON_TEXTS } from '../../domain/person/limits.ts';
import { useLanguage } from '../interface/language.tsx';
import type { Texts } from '../text/fr.ts';
import { type AccountInput, callAccounts, type Outcome, type Refusal } from './account-api.ts';

/** The fields that forms may have. */
const FIELDS = {
  email: { type: 'email', autocomplete: 'username', maxLength: PERSON_TEXTS.email },
  /** The new address of an existing account. */
  newEmail: { type: 'email', autocomplete: 'email', maxLength: PERSON_TEXTS.email },
  name: { type: 'text', autocomplete: 'name', maxLength: PERSON_TEXTS.name },
  password: { type: 'password', autocomplete: 'current-password', maxLength: PERSON_TEXTS.password },
  /** The new password, of a new or an existing account. */
  chosenPassword: {
    type: 'password',
    autocomplete: 'new-password',
    minLength: MIN_PASSWORD,
    maxLength: PERSON_TEXTS.password,
  },
  currentPassword: { type: 'password', autocomplete: 'current-password', maxLength: PERSON_TEXTS.password },
  newPassword: {
    type: 'password',
    autocomplete: 'new-password',
    minLength: MIN_PASSWORD,
    maxLength: PERSON_TEXTS.password,
  },
  /** A code of an authenticator, or a recovery code. */
  code: { type: 'text', autocomplete: 'one-time-code', maxLength: PERSON_TEXTS.code },
  passkeyName: { type: 'text', autocomplete: 'off', maxLength: PERSON_TEXTS.passkeyName },
} as const;
export type FieldName = keyof typeof FIELDS;

interface AccountFormProps {
  /** A path under `/auth/`, or a function that calls several. */
  readonly path: string | ((input: AccountInput) => Promise<Outcome>);
  readonly fields: readonly FieldName[];
  /** The names under which fields are sent, where they differ from those of the form. */
  readonly sentAs?: Readonly<Partial<Record<FieldName, string>>>;
  /** Values that are sent together with the fields. */
  readonly also?: Readonly<Record<string, string>>;
  readonly submit: string;
  /**
   * The account whose password the form sets, for password managers; undefined if a field asks for it or it is unknown.
   */
  readonly username?: string;
  /** Whether the first field gets the focus, for a step that follows another one. */
  readonly focus?: boolean;
  /** Whether the form stays after success; its fields are then emptied. */
  readonly stays?: boolean;
  readonly onSuccess: (outcome: Outcome & { refusal: null }) => void;
}

/**
 * A form that calls a path of accounts. It announces a refusal to screen readers and moves the focus to the field at
 * fault.
 */
export function AccountForm({
  path,
  fields,
  sentAs = {},
  also = {},
  submit,
  username,
  focus,
  stays,
  onSuccess,
}: AccountFormProps) {
  const { texts } = useLanguage();
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [busy, setBusy] = useState(false);
  const [shown, setShown] = useState(false);
  const { labels, hints, show, hide } = texts.account;
  useLayoutEffect(() => {
    if (focus) form.current?.querySelector<HTMLInputElement>('input:not([hidden])')?.focus();
  }, [focus]);
  const fault = refusal && fields.find((name) => (sentAs[name] ?? name) === refusal.param);

  async function send(event: TargetedSubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    if (busy) return;
    const values = new FormData(event.currentTarget);
    const input = {
      ...also,
      ...Object.fromEntries(fields.map((name) => [sentAs[name] ?? name, String(values.get(name))])),
    };
    setBusy(true);
    setRefusal(null);
    const outcome = await (typeof path === 'string' ? callAccounts(path, input) : path(input));
    setBusy(false);
    setShown(false);
    if (outcome.refusal === null) {
      if (stays) form.current?.reset();
      return onSuccess(outcome);
    }
    setRefusal(outcome.refusal);
    const { param } = outcome.refusal;
    const name = fields.find((each) => (sentAs[each] ?? each) === param) ?? fields.at(-1);
    if (name) form.current?.querySelector<HTMLInputElement>(`[name=${name}]`)?.focus();
  }

  return (
    <form ref={form} class="account-form" onSubmit={send} aria-busy={busy}>
      <p class="refusal" role="alert" id={`${id}-refusal`}>
        {refusal && describeRefusal(refusal, texts.account)}
      </p>
      {username !== undefined && <input hidden readOnly type="text" autocomplete="username" value={username} />}
      {fields.map((name) => {
        const { type, ...attributes } = FIELDS[name];
        const hint = name in hints ? hints[name as keyof typeof hints] : null;
        return (
          <div class="field" key={name}>
            <label for={`${id}-${name}`}>{labels[name]}</label>
            <input
              {...attributes}
              id={`${id}-${name}`}
              name={name}
              // The types of JSX accept only one literal here.
              type={(type === 'password' && shown ? 'text' : type) as 'text'}
              dir={type === 'text' ? 'auto' : 'ltr'}
              required
              spellcheck={false}
              aria-invalid={fault === name}
              aria-describedby={fault === name ? `${id}-refusal` : hint ? `${id}-${name}-hint` : undefined}
            />
            {hint && (
              <p class="hint" id={`${id}-${name}-hint`}>
                {hint}
              </p>
            )}
          </div>
        );
      })}
      {fields.some((name) => FIELDS[name].type === 'password') && (
        <button type="button" class="quiet" aria-pressed={shown} onClick={() => setShown(!shown)}>
          {shown ? hide : show}
        </button>
      )}
      <button type="submit" class="primary" aria-disabled={busy}>
        {submit}
      </button>
    </form>
  );
}

/** Describes in the reader's language why an action with an account failed. */
export function describeRefusal(
  { code, param, waitMinutes }: Refusal,
  { refusals, labels, join }: Texts['account'],
): string {
  if (code === 'rate_limit_exceeded') return refusals.tooMany(Math.max(1, waitMinutes));
  if (code === 'invalid_credentials') {
    if (param === 'code') return refusals.wrongCode;
    if (param === 'response') return refusals.passkey;
    if (param === 'newPassword') return refusals.knownPassword;
    return param === null ? refusals.wrongCredentials : refusals.wrongPassword;
  }
  if (code === 'passkey') return refusals.passkey;
  if (code === 'resource_not_found') return refusals.link;
  // Here the code can only concern the tenant of an invitation.
  if (code === 'tenant_suspended') return join.ended.suspended;
  if (code === 'not_signed_in') return refusals.notSignedIn;
  if (code === 'unreachable') return refusals.unreachable;
  // The browser has checked the length, so the password is easy to guess.
  if (code === 'invalid_request' && (param === 'newPassword' || param === 'password')) return refusals.guessable;
  // The browser has checked the form of the address, so another account has it.
  if (code === 'invalid_request' && param === 'address') return refusals.taken;
  if (param !== null && param in labels) return refusals.field(labels[param as FieldName]);
  return refusals.failed;
}
