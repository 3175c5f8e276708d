import { useLanguage } from './language.tsx';
import { Notice } from './notice.tsx';

/** Shown for an address without a page. */
export function NotFound() {
  const { texts } = useLanguage();
  return (
    <Notice title={texts.notFound} text={texts.notFoundUnder}>
      <a href="/">{texts.toStart}</a>
    </Notice>
  );
}
