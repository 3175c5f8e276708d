import type { ComponentChildren } from 'preact';
import { BrandMark } from './brand-mark.tsx';
import { LanguageSwitch, useLanguage } from './language.tsx';
import { useTitle } from './use-title.ts';

/** The header, the content and the footer of a page. @param title the title of the browser's tab */
export function PageFrame({ title, children }: { title: string; children: ComponentChildren }) {
  const { texts } = useLanguage();
  useTitle(title);
  return (
    <div class="frame">
      <header>
        <p class="brand">
          <BrandMark />
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
