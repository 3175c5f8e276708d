import { type ComponentChildren, createContext } from 'preact';
import { useContext, useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { chooseLanguage, DIRECTIONS, LANGUAGES, type Language } from '../text/languages.ts';
import { TEXTS } from '../text/texts.ts';
import type { Texts } from '../text/wording.ts';

interface Reading {
  readonly language: Language;
  readonly texts: Texts;
  choose(language: Language): void;
}

const ReadingContext = createContext<Reading | null>(null);

/** Gives its content the language, and the document its `lang` and `dir`. The address keeps a choice: `?lang=ar`. */
export function LanguageProvider({ children }: { children: ComponentChildren }) {
  const [language, setLanguage] = useState(() => chooseLanguage(location.search, navigator.languages));
  useLayoutEffect(() => {
    document.documentElement.lang = language;
    document.documentElement.dir = DIRECTIONS[language];
  }, [language]);
  const reading = useMemo(
    () => ({
      language,
      texts: TEXTS[language],
      choose(chosen: Language) {
        history.replaceState(history.state, '', `${location.pathname}?lang=${chosen}${location.hash}`);
        setLanguage(chosen);
      },
    }),
    [language],
  );
  return <ReadingContext.Provider value={reading}>{children}</ReadingContext.Provider>;
}

export function useLanguage(): Reading {
  const reading = useContext(ReadingContext);
  if (!reading) throw new Error('useLanguage needs a LanguageProvider');
  return reading;
}

/** The name of each language in that language. */
const NAMES: Readonly<Record<Language, string>> = { fr: 'Français', en: 'English', ar: 'العربية' };

export function LanguageSwitch() {
  const { language, texts, choose } = useLanguage();
  return (
    <fieldset class="languages">
      <legend class="unseen">{texts.language}</legend>
      {LANGUAGES.map((each) => (
        <button type="button" lang={each} key={each} aria-pressed={each === language} onClick={() => choose(each)}>
          {NAMES[each]}
        </button>
      ))}
    </fieldset>
  );
}
