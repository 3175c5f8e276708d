import { TABLE_TEXTS } from '../text/tables.ts';
import { useLanguage } from './language.tsx';

/**
 * Says that something could not be read, and offers to read it again.
 * @param text default: a text that the service does not answer
 */
export function Unreachable({ text, onRetry }: { text?: string; onRetry: () => void }) {
  const { texts, language } = useLanguage();
  return (
    <p class="refusal unreachable" role="alert">
      {text ?? texts.account.refusals.unreachable}{' '}
      <button type="button" class="quiet" onClick={onRetry}>
        {TABLE_TEXTS[language].retry}
      </button>
    </p>
  );
}
