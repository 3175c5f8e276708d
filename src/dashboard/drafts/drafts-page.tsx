import { useLocation } from 'preact-iso';
import { useLanguage } from '../interface/language.tsx';
import { useTitle } from '../interface/use-title.ts';
import { formatMoment } from '../text/dates.ts';
import { DRAFT_TEXTS } from '../text/drafts.ts';
import { formatMoney } from '../text/money.ts';
import { PageLinks } from '../workspace/page-links.tsx';
import { useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { DRAFTS, type ListedDraft } from './documents.ts';
import { customerOf, type DraftContent } from './draft-content.ts';

const PAGE = 20;

/** `…/drafts`: a page of the drafts, newest first. The address contains the page. */
export function DraftsPage() {
  const { language } = useLanguage();
  const { address } = useWorkspace();
  const { after, before } = useLocation().query;
  const variables = before ? { last: PAGE, before } : { first: PAGE, after: after ?? null };
  const { data, problem } = useRead(DRAFTS, variables);
  const { title, lead, none, failed } = DRAFT_TEXTS[language];
  useTitle(title);
  const found = data?.drafts;
  const to = (cursor: { readonly after: string | null; readonly before: string | null }) => {
    const [name, value] = cursor.before === null ? ['after', cursor.after] : ['before', cursor.before];
    return `${address}/drafts${value === null ? '' : `?${name}=${encodeURIComponent(value)}`}`;
  };
  return (
    <section aria-busy={!found && !problem}>
      <h1 class="title">{title}</h1>
      <p class="under">{lead}</p>
      {problem && (
        <p class="refusal" role="alert">
          {failed}
        </p>
      )}
      {found && found.nodes.length === 0 && <p class="empty">{none}</p>}
      {found && found.nodes.length > 0 && (
        <ul class="log">
          {found.nodes.map((draft) => (
            <DraftRow draft={draft} key={draft.id} />
          ))}
        </ul>
      )}
      {found && <PageLinks pageInfo={found.pageInfo} to={to} />}
    </section>
  );
}

function DraftRow({ draft: { id, content, updatedAt, updatedBy, validation } }: { readonly draft: ListedDraft }) {
  const { language } = useLanguage();
  const { address } = useWorkspace();
  const { nameless, ready, incomplete } = DRAFT_TEXTS[language];
  const total = validation.totals?.total;
  return (
    <li>
      <a href={`${address}/drafts/${id}`}>
        <bdi>{customerOf(content as DraftContent).trim() || nameless}</bdi>
      </a>
      {total !== undefined && <bdi>{formatMoney(total, language)}</bdi>}
      <span class="badge">{validation.valid ? ready : incomplete}</span>
      <time dateTime={updatedAt}>{formatMoment(updatedAt, language)}</time>
      {updatedBy.name && <bdi>{updatedBy.name}</bdi>}
    </li>
  );
}
