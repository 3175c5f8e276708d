import { useLanguage } from '../interface/language.tsx';

interface PageLinksProps {
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
  /** Returns the address of the page after or before a cursor. */
  readonly to: (cursor: { readonly after: string | null; readonly before: string | null }) => string;
}

/** Shows links to the newer and the older page of a list. */
export function PageLinks({ pageInfo, to }: PageLinksProps) {
  const { texts } = useLanguage();
  const { pages, newer, older } = texts.invoices;
  const { hasPreviousPage, hasNextPage, startCursor, endCursor } = pageInfo;
  if (!hasPreviousPage && !hasNextPage) return null;
  return (
    <nav class="pages" aria-label={pages}>
      {hasPreviousPage && <a href={to({ before: startCursor, after: null })}>{newer}</a>}
      {hasNextPage && <a href={to({ after: endCursor, before: null })}>{older}</a>}
    </nav>
  );
}
