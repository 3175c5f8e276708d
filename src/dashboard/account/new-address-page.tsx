import { useState } from 'preact/hooks';
import { useLanguage } from '../interface/language.tsx';
import { AccountCard } from './account-card.tsx';
import { AccountForm } from './account-form.tsx';

/** `/new-address#<token>`: confirms the new address of an account. The link is in the mail to that address. */
export function NewAddressPage() {
  const { newAddress, signIn, title } = useLanguage().texts.account;
  const [token] = useState(() => location.hash.slice(1));
  const [isDone, setDone] = useState(false);
  const lead = isDone ? newAddress.done : token === '' ? newAddress.incomplete : newAddress.lead;
  return (
    <AccountCard title={newAddress.title} lead={lead}>
      {!isDone && token !== '' && (
        <AccountForm
          path="new-address/confirm"
          fields={[]}
          also={{ token }}
          submit={newAddress.submit}
          onSuccess={() => setDone(true)}
        />
      )}
      <p class="aside">{isDone ? <a href="/account">{title}</a> : <a href="/sign-in">{signIn.title}</a>}</p>
    </AccountCard>
  );
}
