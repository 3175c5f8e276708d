import { useState } from 'preact/hooks';
import { useLanguage } from '../interface/language.tsx';
import { AccountCard } from './account-card.tsx';
import { AccountForm } from './account-form.tsx';

/** `/new-password#<token>`: sets a new password. The link is in the mail that the person requested. */
export function NewPasswordPage() {
  const { reset, signIn, forgotten } = useLanguage().texts.account;
  const [token] = useState(() => location.hash.slice(1));
  const [isSet, setSet] = useState(false);
  return (
    <AccountCard title={reset.title} lead={isSet ? reset.done : token === '' ? reset.incomplete : reset.lead}>
      {!isSet && token !== '' && (
        <AccountForm
          path="reset-password"
          fields={['newPassword']}
          also={{ token }}
          submit={reset.submit}
          onSuccess={() => setSet(true)}
        />
      )}
      <p class="aside">
        {isSet ? <a href="/sign-in">{signIn.title}</a> : <a href="/forgotten-password">{forgotten.again}</a>}
      </p>
    </AccountCard>
  );
}
