import { useLanguage } from './language.tsx';
import { Notice } from './notice.tsx';

/** For an address that is no page. */
export function NotFound() {
  const { texts } = useLanguage();
  return <Notice title={texts.notFound} text={texts.notFoundUnder} />;
}
