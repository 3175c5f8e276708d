import { type ComponentChildren, createContext } from 'preact';
import { useContext, useLayoutEffect, useMemo, useState } from 'preact/hooks';
import type { Texts } from '../text/fr.ts';
import { chooseLanguage, DIRECTIONS, LANGUAGE_NAMES, LANGUAGES, type Language } from '../text/languages.ts';
import { TEXTS } from '../text/texts.ts';

interface Reading {
  readonly language: Language;
  readonly texts: Texts;
  choose(language: Language): void;
}

const ReadingContext = createContext<Reading | null>(null);

/** The key under which the browser stores the reader's choice. */
const KEPT_AS = 'language';

/**
 * Provides the language to its content, and sets `lang` and `dir` of the document. A choice is kept in the address
 * (`?lang=ar`) and in the browser.
 */
export function LanguageProvider({ children }: { children: ComponentChildren }) {
  const [language, setLanguage] = useState(() => {
    const chosen = chooseLanguage(location.search, [...keptLanguage(), ...navigator.languages]);
    // The next address does not contain the choice, and a reload there must not change the language. In a page within
    // another product's the product chooses, for that page alone.
    const isOwn = !location.pathname.startsWith('/embed/');
    if (isOwn && new URLSearchParams(location.search).get('lang') === chosen) keepLanguage(chosen);
    return chosen;
  });
  useLayoutEffect(() => {
    document.documentElement.lang = language;
    document.documentElement.dir = DIRECTIONS[language];
  }, [language]);
  const reading = useMemo(
    () => ({
      language,
      texts: TEXTS[language],
      choose(chosen: Language) {
        // The rest of the address belongs to the page: a filter, or the page to open after signing in.
        const address = new URL(location.href);
        address.searchParams.set('lang', chosen);
        history.replaceState(history.state, '', address);
        keepLanguage(chosen);
        setLanguage(chosen);
      },
    }),
    [language],
  );
  return <ReadingContext.Provider value={reading}>{children}</ReadingContext.Provider>;
}

function keptLanguage(): string[] {
  try {
    return [localStorage.getItem(KEPT_AS) ?? ''];
  } catch {
    return []; // The browser stores nothing for this page.
  }
}

function keepLanguage(language: Language): void {
  try {
    localStorage.setItem(KEPT_AS, language);
  } catch {
    // The browser stores nothing for this page.
  }
}

export function useLanguage(): Reading {
  const reading = useContext(ReadingContext);
  if (!reading) throw new Error('useLanguage needs a LanguageProvider');
  return reading;
}

export function LanguageSwitch() {
  const { language, texts, choose } = useLanguage();
  return (
    <fieldset class="languages">
      <legend class="unseen">{texts.language}</legend>
      {LANGUAGES.map((each) => (
        <button type="button" lang={each} key={each} aria-pressed={each === language} onClick={() => choose(each)}>
          {LANGUAGE_NAMES[each]}
        </button>
      ))}
    </fieldset>
  );
}
