import { useEffect, useState } from 'preact/hooks';
import { CopyButton } from '../interface/copy-button.tsx';
import { useLanguage } from '../interface/language.tsx';
import { formatDate } from '../text/dates.ts';
import { type AccountInput, callAccounts, type SecondFactorState } from './account-api.ts';
import { AccountForm } from './account-form.tsx';
import { PasskeyButton } from './passkey-button.tsx';
import { addPasskey } from './passkeys.ts';
import { QrCode } from './qr-code.tsx';

/** The form that is open: a change of the codes, a new passkey, or the removal of the passkey with this id. */
type Open = 'set-up' | 'recovery' | 'remove' | 'add' | `remove ${string}` | null;

/** The second factors of an account: codes of an authenticator with recovery codes, and passkeys. */
export function SecondFactors({ email }: { email: string }) {
  const { texts, language } = useLanguage();
  const { factors } = texts.account;
  const [state, setState] = useState<SecondFactorState | null>(null);
  const [open, setOpen] = useState<Open>(null);
  const [recoveryCodes, setRecoveryCodes] = useState<readonly string[] | null>(null);
  const [uri, setUri] = useState<string | null>(null);

  async function read() {
    const outcome = await callAccounts('second-factors');
    if (outcome.refusal === null) setState(outcome.body as unknown as SecondFactorState);
  }
  useEffect(() => void read(), []);

  function done() {
    setOpen(null);
    setUri(null);
    void read();
  }

  const password = { sentAs: { currentPassword: 'password' }, username: email } as const;
  const [hasCodes, passkeys] = [state?.hasCodes === true, state?.passkeys ?? []];
  return (
    <section class="card" aria-labelledby="factors" aria-busy={state === null}>
      <h2 id="factors">{factors.title}</h2>
      <p class="under">{factors.lead}</p>
      <h3>{factors.codes}</h3>
      <p role="status">{state && (hasCodes ? factors.on(state.recoveryCodesLeft) : factors.off)}</p>
      {recoveryCodes && (
        <div class="secret">
          <p>{factors.recoveryLead}</p>
          <ul class="recovery-codes" dir="ltr">
            {recoveryCodes.map((code) => (
              <li key={code}>
                <code>{code}</code>
              </li>
            ))}
          </ul>
          <p class="actions">
            <CopyButton text={recoveryCodes.join('\n')} />
            {uri === null && (
              <button type="button" class="primary" onClick={() => setRecoveryCodes(null)}>
                {texts.secret.done}
              </button>
            )}
          </p>
        </div>
      )}
      {uri !== null && (
        <div class="set-up">
          <p>{factors.scan}</p>
          <QrCode text={uri} label={factors.qrCode} />
          <p>
            {factors.byHand} <code dir="ltr">{new URL(uri).searchParams.get('secret')}</code>
          </p>
          <AccountForm path="codes/confirm" fields={['code']} submit={factors.confirm} focus onSuccess={done} />
        </div>
      )}
      {open === 'set-up' && uri === null && (
        <AccountForm
          {...password}
          path="codes/begin"
          fields={['currentPassword']}
          submit={factors.setUp}
          focus
          onSuccess={({ body }) => {
            setRecoveryCodes(body.recoveryCodes as string[]);
            setUri(body.uri as string);
          }}
        />
      )}
      {open === 'recovery' && (
        <AccountForm
          {...password}
          path="codes/recovery"
          fields={['currentPassword']}
          submit={factors.newRecovery}
          focus
          onSuccess={({ body }) => {
            setRecoveryCodes(body.recoveryCodes as string[]);
            done();
          }}
        />
      )}
      {open === 'remove' && (
        <AccountForm
          {...password}
          path="codes/remove"
          fields={['currentPassword']}
          submit={factors.remove}
          focus
          onSuccess={() => {
            setRecoveryCodes(null);
            done();
          }}
        />
      )}
      {state && open === null && (
        <p class="actions">
          {hasCodes ? (
            <>
              <button type="button" class="secondary" onClick={() => setOpen('recovery')}>
                {factors.newRecovery}
              </button>
              <button type="button" class="secondary" onClick={() => setOpen('remove')}>
                {factors.remove}
              </button>
            </>
          ) : (
            <button type="button" class="secondary" onClick={() => setOpen('set-up')}>
              {factors.setUp}
            </button>
          )}
        </p>
      )}
      <h3>{factors.passkeys}</h3>
      {state && passkeys.length === 0 && <p>{factors.noPasskeys}</p>}
      <ul class="log">
        {passkeys.map(({ id, name, createdAt }) => (
          <li key={id}>
            <strong>
              <bdi>{name}</bdi>
            </strong>
            <span>
              {texts.keys.createdOn} <time dateTime={createdAt}>{formatDate(createdAt, language)}</time>
            </span>
            {open === `remove ${id}` ? (
              <AccountForm
                {...password}
                path="passkeys/remove"
                also={{ id }}
                fields={['currentPassword']}
                submit={factors.removePasskey}
                focus
                onSuccess={done}
              />
            ) : (
              <button type="button" class="secondary" onClick={() => setOpen(`remove ${id}`)}>
                {factors.removePasskey}
              </button>
            )}
          </li>
        ))}
      </ul>
      {open === 'add' && (
        <AccountForm
          {...password}
          path={({ passkeyName, password: given }: AccountInput) => addPasskey(String(passkeyName), String(given))}
          fields={['passkeyName', 'currentPassword']}
          submit={factors.addPasskey}
          focus
          onSuccess={done}
        />
      )}
      {state && open === null && (
        <p class="actions">
          <PasskeyButton text={factors.addPasskey} onPress={() => setOpen('add')} />
        </p>
      )}
      {open !== null && (
        <p class="aside">
          <button
            type="button"
            class="quiet"
            onClick={() => {
              if (uri !== null) setRecoveryCodes(null);
              done();
            }}
          >
            {texts.secret.cancel}
          </button>
        </p>
      )}
    </section>
  );
}
