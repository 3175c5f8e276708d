import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useLanguage } from '../interface/language.tsx';
import { nextAddress } from '../workspace/session.ts';
import { AccountCard } from './account-card.tsx';
import { AccountForm } from './account-form.tsx';

/** `/join#<token>`: makes an account from an invitation. The token stays in the fragment, which browsers do not send. */
export function JoinPage() {
  const { join } = useLanguage().texts.account;
  const { route } = useLocation();
  const [token] = useState(() => location.hash.slice(1));
  if (token === '') return <AccountCard title={join.title} lead={join.incomplete} />;
  return (
    <AccountCard title={join.title} lead={join.lead}>
      <AccountForm
        path="accept-invitation"
        fields={['name', 'email', 'chosenPassword']}
        sentAs={{ chosenPassword: 'password' }}
        also={{ token }}
        submit={join.submit}
        onSuccess={({ session }) => route(nextAddress('', session?.memberships ?? []), true)}
      />
    </AccountCard>
  );
}
