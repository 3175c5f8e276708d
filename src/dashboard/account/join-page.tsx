import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useLanguage } from '../interface/language.tsx';
import { nextAddress } from '../workspace/session.ts';
import { callAccounts, type Outcome } from './account-api.ts';
import { AccountCard } from './account-card.tsx';
import { AccountForm } from './account-form.tsx';
import { CodeForm } from './code-form.tsx';

/**
 * `/join#<token>`: creates an account from an invitation. The token stays in the fragment, which browsers do not send.
 */
export function JoinPage() {
  const { join, codeStep } = useLanguage().texts.account;
  const { route } = useLocation();
  const [token] = useState(() => location.hash.slice(1));
  const [needsCode, setNeedsCode] = useState(false);
  const [state, setState] = useState<string | null>(null);
  useEffect(() => {
    if (token === '') return;
    // Without an answer the form is shown; sending it will report the problem.
    void callAccounts('invitation', { token }).then((outcome) =>
      setState(outcome.refusal === null ? String(outcome.body.state) : 'open'),
    );
  }, [token]);
  // The roles have been granted. If the account already had a second factor, its code is needed to start a session.
  const proceed = ({ session, body }: Outcome & { refusal: null }) =>
    body.secondFactorRequired ? setNeedsCode(true) : route(nextAddress('', session?.memberships ?? []), true);
  if (needsCode)
    return (
      <AccountCard title={codeStep.title} lead={codeStep.lead}>
        <CodeForm onSuccess={proceed} onBack={() => route('/sign-in', true)} />
      </AccountCard>
    );
  if (token === '') return <AccountCard title={join.title} lead={join.incomplete} />;
  if (state === null) return <AccountCard title={join.title} />;
  if (state !== 'open') return <EndedInvitation state={state} />;
  return (
    <AccountCard title={join.title} lead={join.lead}>
      <AccountForm
        path="accept-invitation"
        fields={['name', 'email', 'chosenPassword']}
        sentAs={{ chosenPassword: 'password' }}
        also={{ token }}
        submit={join.submit}
        onSuccess={proceed}
      />
    </AccountCard>
  );
}

/** Explains why the link of an invitation cannot be used, and what its reader can do. */
function EndedInvitation({ state }: { state: string }) {
  const { join, signIn, forgotten } = useLanguage().texts.account;
  const texts: Readonly<Record<string, string>> = join.ended;
  return (
    <AccountCard title={join.title} lead={texts[state] ?? join.ended.unknown}>
      <p class="aside">
        <a href="/sign-in">{signIn.title}</a>
      </p>
      {state === 'used' && (
        <p class="aside">
          <a href="/forgotten-password">{forgotten.link}</a>
        </p>
      )}
    </AccountCard>
  );
}
