import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useLanguage } from '../interface/language.tsx';
import { nextAddress } from '../workspace/session.ts';
import type { Outcome, Refusal } from './account-api.ts';
import { AccountCard } from './account-card.tsx';
import { AccountForm, describeRefusal } from './account-form.tsx';
import { CodeForm } from './code-form.tsx';
import { PasskeyButton } from './passkey-button.tsx';
import { signInWithPasskey } from './passkeys.ts';

/** `/sign-in`: signs in with a passkey, or with a password and a second factor if the account has one. */
export function SignInPage() {
  const { account } = useLanguage().texts;
  const { signIn, forgotten, codeStep } = account;
  const { route } = useLocation();
  const [needsCode, setNeedsCode] = useState(false);
  const [refusal, setRefusal] = useState<Refusal | null>(null);

  function proceed({ session, body }: Outcome & { refusal: null }) {
    if (body.secondFactorRequired) setNeedsCode(true);
    else leave(nextAddress(location.search, session?.memberships ?? []));
  }

  function leave(next: string) {
    // The documentation is not of this program.
    if (next.startsWith('/docs')) location.replace(next);
    else route(next, true);
  }

  async function withPasskey() {
    setRefusal(null);
    const outcome = await signInWithPasskey();
    if (outcome.refusal === null) proceed(outcome);
    else setRefusal(outcome.refusal);
  }

  if (needsCode)
    return (
      <AccountCard title={codeStep.title} lead={codeStep.lead}>
        <CodeForm onSuccess={proceed} onBack={() => setNeedsCode(false)} />
      </AccountCard>
    );
  return (
    <AccountCard title={signIn.title}>
      <AccountForm path="sign-in" fields={['email', 'password']} submit={signIn.submit} onSuccess={proceed} />
      <PasskeyButton text={signIn.passkey} onPress={withPasskey} />
      <p class="refusal" role="alert">
        {refusal && describeRefusal(refusal, account)}
      </p>
      <p class="aside">
        <a href="/forgotten-password">{forgotten.link}</a>
      </p>
    </AccountCard>
  );
}
