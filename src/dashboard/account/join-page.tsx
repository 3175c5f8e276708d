import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useLanguage } from '../interface/language.tsx';
import { nextAddress } from '../workspace/session.ts';
import type { Outcome } from './account-api.ts';
import { AccountCard } from './account-card.tsx';
import { AccountForm } from './account-form.tsx';
import { CodeForm } from './code-form.tsx';

/** `/join#<token>`: makes an account from an invitation. The token stays in the fragment, which browsers do not send. */
export function JoinPage() {
  const { join, codeStep } = useLanguage().texts.account;
  const { route } = useLocation();
  const [token] = useState(() => location.hash.slice(1));
  const [needsCode, setNeedsCode] = useState(false);
  // The roles are there; a session of the account that had a second factor before begins with its code.
  const proceed = ({ session, body }: Outcome & { refusal: null }) =>
    body.secondFactorRequired ? setNeedsCode(true) : route(nextAddress('', session?.memberships ?? []), true);
  if (needsCode)
    return (
      <AccountCard title={codeStep.title} lead={codeStep.lead}>
        <CodeForm onSuccess={proceed} onBack={() => route('/sign-in', true)} />
      </AccountCard>
    );
  if (token === '') return <AccountCard title={join.title} lead={join.incomplete} />;
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
