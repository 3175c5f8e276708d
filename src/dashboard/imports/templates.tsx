import { useLanguage } from '../interface/language.tsx';
import { IMPORT_TEXTS } from '../text/imports.ts';
import { LANGUAGES, type Language } from '../text/languages.ts';
import { SavedFile } from './saved-file.tsx';

/** Downloads the workbook for filling in: in the language of the page first. */
export function Templates() {
  const { language } = useLanguage();
  const words = IMPORT_TEXTS[language];
  return (
    <section class="card">
      <h2>{words.templates}</h2>
      <p class="under">{words.templatesLead}</p>
      <p class="actions">
        {[language, ...LANGUAGES.filter((each) => each !== language)].map((each) => (
          <SavedFile
            key={each}
            path={`/imports/template.xlsx?language=${each}`}
            name={TEMPLATE_NAMES[each]}
            language={each}
          >
            {IMPORT_TEXTS[each].template}
          </SavedFile>
        ))}
      </p>
    </section>
  );
}

const TEMPLATE_NAMES: Readonly<Record<Language, string>> = {
  fr: 'modele-factures.xlsx',
  en: 'invoice-template.xlsx',
  ar: 'modele-factures-ar.xlsx',
};
