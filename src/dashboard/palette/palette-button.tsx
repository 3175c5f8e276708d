import type { FunctionComponent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLanguage } from '../interface/language.tsx';
import type { Section } from '../interface/sections.tsx';
import { PALETTE_TEXTS } from '../text/palette.ts';
import type { PaletteProps } from './palette.tsx';

/** The part of the address of an editable element that keeps its keys. */
const EDITABLE = 'input, textarea, select, [contenteditable]';

/**
 * The button of the palette, which Ctrl-K and Cmd-K open, too. `/` focuses the search of a list, and opens the palette
 * on other pages. The palette is loaded when it is first opened.
 */
export function PaletteButton({ pages }: { pages: readonly Section[] }) {
  const { language } = useLanguage();
  const [isOpen, setOpen] = useState(false);
  const [Palette, setPalette] = useState<FunctionComponent<PaletteProps> | null>(null);
  const { title } = PALETTE_TEXTS[language];
  const opening = useRef(open);
  opening.current = open;

  function open(): void {
    setOpen(true);
    // If it cannot be loaded, the next attempt loads it: the pages work without it.
    if (!Palette)
      import('./palette.tsx').then((loaded) => setPalette(() => loaded.Palette)).catch(() => setOpen(false));
  }
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || document.querySelector('dialog[open]')) return;
      if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && isK(event)) {
        event.preventDefault();
        opening.current();
      }
      const isTyping = event.target instanceof Element && event.target.closest(EDITABLE) !== null;
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
      event.preventDefault();
      const field = document.querySelector<HTMLInputElement>('main #search');
      if (field) field.select();
      else opening.current();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return (
    <>
      <button
        type="button"
        class="quiet palette-open"
        aria-label={title}
        aria-haspopup="dialog"
        aria-keyshortcuts="Control+K Meta+K"
        title={`${title} (Ctrl K)`}
        onClick={open}
      >
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M9 15a6 6 0 1 0 0-12 6 6 0 0 0 0 12Zm4.5-1.5L17.5 17.5" />
        </svg>
      </button>
      {isOpen && Palette && <Palette pages={pages} onClose={() => setOpen(false)} />}
    </>
  );
}

/** Recognizes the key by its place if it has another letter, as on an Arabic keyboard. */
function isK({ key, code }: KeyboardEvent): boolean {
  return key.toLowerCase() === 'k' || (code === 'KeyK' && !/^[a-z]$/i.test(key));
}
