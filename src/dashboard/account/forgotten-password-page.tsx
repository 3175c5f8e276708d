import { useState } from 'preact/hooks';
import { useLanguage } from '../interface/language.tsx';
import { AccountCard } from './account-card.tsx';
import { AccountForm } from './account-form.tsx';

/** `/forgotten-password`: requests a mail with a link to set a new password. */
export function ForgottenPasswordPage() {
  const { forgotten, signIn } = useLanguage().texts.account;
  const [isSent, setSent] = useState(false);
  return (
    <AccountCard title={forgotten.title} lead={isSent ? forgotten.sent : forgotten.lead}>
      {!isSent && (
        <AccountForm
          path="request-password-reset"
          fields={['email']}
          submit={forgotten.submit}
          onSuccess={() => setSent(true)}
        />
      )}
      <p class="aside">
        <a href="/sign-in">{signIn.title}</a>
      </p>
    </AccountCard>
  );
}
