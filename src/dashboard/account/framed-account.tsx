import { useLanguage } from '../interface/language.tsx';
import { lastPlace } from '../interface/last-place.ts';
import { useTitle } from '../interface/use-title.ts';
import { AccountContent } from './account-content.tsx';

/** The account within the frame of a tenant's or an operator's pages, with a link to where the person was. */
export function FramedAccount() {
  const { account } = useLanguage().texts;
  useTitle(account.title);
  const place = lastPlace();
  return (
    <>
      {place !== null && (
        <p>
          <a href={place}>{account.backToPlace}</a>
        </p>
      )}
      <AccountContent />
    </>
  );
}
