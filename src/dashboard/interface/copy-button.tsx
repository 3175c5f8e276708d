import { useEffect, useState } from 'preact/hooks';
import { useLanguage } from './language.tsx';

/** The clipboard, which browsers lack in pages over plain HTTP from another machine. */
const CLIPBOARD: Clipboard | undefined = navigator.clipboard;

interface CopyButtonProps {
  readonly text: string;
  readonly name?: string;
  readonly kind?: 'primary' | 'secondary';
}

/** Copies a text with one click, if the browser can. @param name what is copied; default: the word for copying */
export function CopyButton({ text, name, kind = 'secondary' }: CopyButtonProps) {
  const { texts } = useLanguage();
  const [copied, setCopied] = useState<string | null>(null);
  useEffect(() => setCopied(null), [text]);
  if (!CLIPBOARD) return null;
  return (
    <button type="button" class={kind} onClick={() => CLIPBOARD.writeText(text).then(() => setCopied(text))}>
      {copied === text ? texts.secret.copied : (name ?? texts.secret.copy)}
    </button>
  );
}
