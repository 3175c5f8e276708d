import { useLanguage } from '../interface/language.tsx';
import { PageFrame } from '../interface/page-frame.tsx';
import { AccountContent } from './account-content.tsx';

/** `/account`: the account of a person who is in no tenant's pages. */
export function AccountPage() {
  const { texts } = useLanguage();
  return (
    <PageFrame title={texts.account.title}>
      <AccountContent />
    </PageFrame>
  );
}
