import { useLanguage } from './language.tsx';

/** Why a change was refused, or a reading failed. @param text a message of the service, which is in English */
export function Refusal({ text }: { text: string | 'unreachable' | null }) {
  const { texts } = useLanguage();
  const isOwn = text === 'unreachable';
  return (
    <p class="refusal" role="alert" lang={isOwn || text === null ? undefined : 'en'} dir={isOwn ? undefined : 'auto'}>
      {isOwn ? texts.account.refusals.unreachable : text}
    </p>
  );
}
