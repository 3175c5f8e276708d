import { useState } from 'preact/hooks';
import { useLanguage } from '../interface/language.tsx';
import { AccountForm } from './account-form.tsx';

interface OwnDetailsProps {
  readonly email: string;
  readonly onRenamed: () => void;
}

/** Forms for the name of a person and the address of the account. */
export function OwnDetails({ email, onRenamed }: OwnDetailsProps) {
  const { details } = useLanguage().texts.account;
  const [done, setDone] = useState<'name' | 'address' | null>(null);
  return (
    <section class="card" aria-labelledby="details">
      <h2 id="details">{details.title}</h2>
      <h3>{details.name}</h3>
      <p class="under" role="status">
        {done === 'name' ? details.renamed : details.nameLead}
      </p>
      <AccountForm
        path="change-name"
        fields={['name']}
        submit={details.rename}
        stays
        onSuccess={() => {
          setDone('name');
          onRenamed();
        }}
      />
      <h3>{details.address}</h3>
      <p class="under" role="status">
        {done === 'address' ? details.asked : details.addressLead}
      </p>
      <AccountForm
        path="new-address"
        fields={['newEmail', 'currentPassword']}
        sentAs={{ newEmail: 'email', currentPassword: 'password' }}
        submit={details.ask}
        username={email}
        stays
        onSuccess={() => setDone('address')}
      />
    </section>
  );
}
