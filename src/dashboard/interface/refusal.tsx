import { ERROR_TEXTS, type Reason } from '../text/errors.ts';
import { useLanguage } from './language.tsx';
import { Unreachable } from './unreachable.tsx';

/** Shows why a change was refused or a read failed. @param onRetry reads again, where nothing answered */
export function Refusal({ why, onRetry }: { why: Reason | null; onRetry?: () => void }) {
  const { texts, language } = useLanguage();
  if (why === 'unreachable' && onRetry) return <Unreachable onRetry={onRetry} />;
  return (
    <p class="refusal" role="alert">
      {why === 'unreachable'
        ? texts.account.refusals.unreachable
        : why && (
            <ServiceMessage own={language === 'en' ? null : ERROR_TEXTS[language][why.code]} message={why.message} />
          )}
    </p>
  );
}

/**
 * Shows the service's message, which is in English, after a sentence in the reader's language.
 * @param own that sentence; null or undefined if there is none, as for readers of English, or for a code of a newer
 * service
 */
export function ServiceMessage({ own, message }: { own: string | null | undefined; message: string }) {
  return (
    <>
      {own && `${own} `}
      <span lang="en" dir="ltr">
        {message}
      </span>
    </>
  );
}
