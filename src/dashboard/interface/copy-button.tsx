import { useEffect, useState } from 'preact/hooks';
import { useLanguage } from './language.tsx';

/** The clipboard, which browsers lack in pages over plain HTTP from another machine. */
const CLIPBOARD: Clipboard | undefined = navigator.clipboard;

/** Copies a text with one click, if the browser can. */
export function CopyButton({ text, kind = 'secondary' }: { text: string; kind?: 'primary' | 'secondary' }) {
  const { texts } = useLanguage();
  const [copied, setCopied] = useState<string | null>(null);
  useEffect(() => setCopied(null), [text]);
  if (!CLIPBOARD) return null;
  return (
    <button type="button" class={kind} onClick={() => CLIPBOARD.writeText(text).then(() => setCopied(text))}>
      {copied === text ? texts.secret.copied : texts.secret.copy}
    </button>
  );
}
