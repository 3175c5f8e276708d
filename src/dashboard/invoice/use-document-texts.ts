import { kindOfId } from '../../domain/invoice/kinds.ts';
import { useLanguage } from '../interface/language.tsx';
import { DOCUMENT_TEXTS } from '../text/credit-notes.ts';

/** Returns the reader's language, the kind of the document with this id, and the texts about that kind. */
export function useDocumentTexts(id: string) {
  const { language } = useLanguage();
  const kind = kindOfId(id) ?? 'invoice';
  return { language, kind, texts: DOCUMENT_TEXTS[kind][language] };
}
