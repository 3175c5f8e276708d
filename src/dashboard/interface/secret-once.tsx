import { useState } from 'preact/hooks';
import { useLanguage } from './language.tsx';

/** Browsers have none in pages over plain HTTP from another machine. */
const CLIPBOARD: Clipboard | undefined = navigator.clipboard;

/** A secret that is shown only now, to be copied with one click. */
export function SecretOnce({ label, secret, onDone }: { label: string; secret: string; onDone: () => void }) {
  const { texts } = useLanguage();
  const { copy, copied, once, done } = texts.secret;
  const [isCopied, setCopied] = useState(false);
  return (
    <div class="secret" role="status">
      <p>
        <strong>{label}</strong> {once}
      </p>
      <code dir="ltr">{secret}</code>
      <p class="actions">
        {CLIPBOARD && (
          <button type="button" class="primary" onClick={() => CLIPBOARD.writeText(secret).then(() => setCopied(true))}>
            {isCopied ? copied : copy}
          </button>
        )}
        <button type="button" class="secondary" onClick={onDone}>
          {done}
        </button>
      </p>
    </div>
  );
}
