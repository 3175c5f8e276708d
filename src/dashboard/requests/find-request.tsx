import { useLocation } from 'preact-iso';
import { useLanguage } from '../interface/language.tsx';
import { TABLE_TEXTS } from '../text/tables.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';

/** Opens the request with an id, or lists those with a key or to a path. */
export function FindRequest({ to }: { to: (filter: Readonly<Record<string, string>>) => string }) {
  const { texts, language } = useLanguage();
  const { address } = useWorkspace();
  const { route } = useLocation();
  const { findRequest } = TABLE_TEXTS[language];

  function addressOf(text: string): string {
    if (text.startsWith('req_')) return `${address}/requests/${encodeURIComponent(text)}`;
    return to(text === '' ? {} : text.startsWith('key_') ? { apiKeyId: text } : { route: text });
  }
  return (
    <form
      class="find-request"
      onSubmit={(event) => {
        event.preventDefault();
        route(addressOf(String(new FormData(event.currentTarget).get('find')).trim()));
      }}
    >
      <input
        type="search"
        name="find"
        maxLength={300}
        dir="ltr"
        placeholder="/v1/invoices/:id, key_…, req_…"
        aria-label={findRequest}
        title={findRequest}
      />
      <button type="submit" class="secondary">
        {texts.search.submit}
      </button>
    </form>
  );
}
