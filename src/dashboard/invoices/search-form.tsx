import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { LONGEST_SEARCH } from '../../domain/invoice/search/bounds.ts';
import { useLanguage } from '../interface/language.tsx';
import { documentAddress } from '../palette/document-address.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { BY_NUMBER } from './documents.ts';
import type { Filter } from './invoice-filter.ts';

interface SearchFormProps {
  /** The search that restricts the list; null if there is none. */
  readonly search: string | null;
  readonly to: (change: Partial<Filter>) => string;
}

/**
 * Searches the documents of the list by any part of them. The id or the whole number of a document leads to it. `/`
 * focuses the field.
 */
export function SearchForm({ search, to }: SearchFormProps) {
  const { texts } = useLanguage();
  const { client, address } = useWorkspace();
  const { route } = useLocation();
  const { label, hint, submit, remove } = texts.search;
  const [typed, setTyped] = useState(search ?? '');

  async function find(): Promise<void> {
    const text = typed.trim();
    // If there is no such number, the answer is an error.
    const byNumber = /\d/.test(text) ? await client.query(BY_NUMBER, { number: text }).toPromise() : null;
    const id = byNumber?.data?.fiscalDocumentByNumber.id ?? text;
    route(documentAddress(address, id) ?? to({ search: text || null, after: null, before: null }));
  }

  return (
    <search>
      <form
        class="search"
        onSubmit={(event) => {
          event.preventDefault();
          void find();
        }}
      >
        <label class="unseen" for="search">
          {label}
        </label>
        <input
          id="search"
          type="search"
          name="search"
          autocomplete="off"
          maxLength={LONGEST_SEARCH}
          aria-describedby="search-hint"
          aria-keyshortcuts="/"
          value={typed}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <button type="submit" class="secondary">
          {submit}
        </button>
        {search !== null && (
          <a class="match" href={to({ search: null, after: null, before: null })}>
            {remove}
          </a>
        )}
        <p class="hint" id="search-hint">
          {hint}
        </p>
      </form>
    </search>
  );
}
