import { useLanguage } from '../interface/language.tsx';
import { obstacleOf } from './passkeys.ts';

const UNDER = 'passkey-obstacle';

/** A button that asks for a passkey. If passkeys cannot work, it is disabled, and the page says why. */
export function PasskeyButton({ text, onPress }: { text: string; onPress: () => void }) {
  const { account } = useLanguage().texts;
  const told = document.querySelector<HTMLMetaElement>('meta[name="service-origin"]')?.content;
  const origin = told || location.origin;
  // Older browsers have the interface, but cannot read what the service sends.
  const isSupported = window.PublicKeyCredential?.parseRequestOptionsFromJSON !== undefined;
  const obstacle = obstacleOf(origin, location.origin, isSupported);
  return (
    <>
      <button
        type="button"
        class="secondary"
        disabled={obstacle !== null}
        aria-describedby={obstacle === null ? undefined : UNDER}
        onClick={onPress}
      >
        {text}
      </button>
      {obstacle !== null && (
        <span class="hint" id={UNDER}>
          {account.passkeyObstacles[obstacle](origin)}
        </span>
      )}
    </>
  );
}
