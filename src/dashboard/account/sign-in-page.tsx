import { useLocation } from 'preact-iso';
import { useLanguage } from '../interface/language.tsx';
import { nextAddress } from '../workspace/session.ts';
import { AccountCard } from './account-card.tsx';
import { AccountForm } from './account-form.tsx';

/** `/sign-in`. */
export function SignInPage() {
  const { signIn, forgotten } = useLanguage().texts.account;
  const { route } = useLocation();
  return (
    <AccountCard title={signIn.title}>
      <AccountForm
        path="sign-in"
        fields={['email', 'password']}
        submit={signIn.submit}
        onSuccess={({ session }) => route(nextAddress(location.search, session?.memberships ?? []), true)}
      />
      <p class="aside">
        <a href="/forgotten-password">{forgotten.link}</a>
      </p>
    </AccountCard>
  );
}
