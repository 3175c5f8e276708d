import { CopyButton } from './copy-button.tsx';
import { useLanguage } from './language.tsx';

/** Shows a secret that can be seen only now, with a button to copy it. */
export function SecretOnce({ label, secret, onDone }: { label: string; secret: string; onDone: () => void }) {
  const { texts } = useLanguage();
  const { once, done } = texts.secret;
  return (
    <div class="secret" role="status">
      <p>
        <strong>{label}</strong> {once}
      </p>
      <code dir="ltr">{secret}</code>
      <p class="actions">
        <CopyButton text={secret} kind="primary" />
        <button type="button" class="secondary" onClick={onDone}>
          {done}
        </button>
      </p>
    </div>
  );
}
