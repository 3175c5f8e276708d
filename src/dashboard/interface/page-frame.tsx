import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { LanguageSwitch, useLanguage } from './language.tsx';

/** The header, the content and the footer of a page. @param title the title of the browser's tab */
export function PageFrame({ title, children }: { title: string; children: ComponentChildren }) {
  const { texts } = useLanguage();
  useEffect(() => {
    document.title = `${title} · Fatoura`;
  }, [title]);
  return (
    <div class="frame">
      <header>
        <p class="brand">
          <svg viewBox="0 0 32 32" aria-hidden="true">
            <rect width="32" height="32" rx="8" />
            <path d="M10 24V8h12M10 16h9" />
          </svg>
          Fatoura
        </p>
        <LanguageSwitch />
      </header>
      <main>{children}</main>
      <footer>
        <p>{texts.footer}</p>
      </footer>
    </div>
  );
}
