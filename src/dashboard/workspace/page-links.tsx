import { useLanguage } from '../interface/language.tsx';
import { TABLE_TEXTS } from '../text/tables.ts';

interface PageLinksProps {
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
  /** Returns the address of the page after or before a cursor. */
  readonly to: (cursor: { readonly after: string | null; readonly before: string | null }) => string;
  /** Whether the list has its usual order, in which the following rows are older. */
  readonly isByDate?: boolean;
}

/** Shows links to the previous and the next page of a list. */
export function PageLinks({ pageInfo, to, isByDate = true }: PageLinksProps) {
  const { texts, language } = useLanguage();
  const { previous, following } = TABLE_TEXTS[language];
  const { pages, newer, older } = texts.invoices;
  const { hasPreviousPage, hasNextPage, startCursor, endCursor } = pageInfo;
  if (!hasPreviousPage && !hasNextPage) return null;
  return (
    <nav class="pages" aria-label={pages}>
      {hasPreviousPage && <a href={to({ before: startCursor, after: null })}>{isByDate ? newer : previous}</a>}
      {hasNextPage && <a href={to({ after: endCursor, before: null })}>{isByDate ? older : following}</a>}
    </nav>
  );
}
