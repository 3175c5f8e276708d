import type { ResultOf } from 'gql.tada';
import { useEffect, useState } from 'preact/hooks';
import { MOST_SEARCHED } from '../../domain/invoice/search/bounds.ts';
import { graphql } from '../graphql/graphql.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';

/** Pause in typing after which documents are searched, milliseconds. */
const PAUSE_MS = 150;

const FOUND_DOCUMENTS = graphql(`
  query FoundDocuments($search: String!) {
    fiscalDocuments(search: $search, first: 6) {
      nodes { id number amount currency status customer { name } }
    }
  }
`);

export type FoundDocument = ResultOf<typeof FOUND_DOCUMENTS>['fiscalDocuments']['nodes'][number];

export interface Found {
  readonly state: 'searching' | 'found' | 'failed';
  readonly documents: readonly FoundDocument[];
}

const NOTHING: Found = { state: 'found', documents: [] };

/** Returns the newest documents that match what is typed. While the next ones are searched, the earlier ones stay. */
export function useFound(typed: string): Found {
  const { client } = useWorkspace();
  const [found, setFound] = useState<Found & { readonly text: string }>({ ...NOTHING, text: '' });
  const text = typed.split(/\s+/).slice(0, MOST_SEARCHED).join(' ');
  const isSearch = /[\p{L}\p{N}]/u.test(text);
  useEffect(() => {
    if (!isSearch) return;
    let isOver = false;
    const timer = setTimeout(async () => {
      const { data } = await client.query(FOUND_DOCUMENTS, { search: text }).toPromise();
      if (isOver) return;
      setFound({ text, state: data ? 'found' : 'failed', documents: data?.fiscalDocuments.nodes ?? [] });
    }, PAUSE_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [client, text, isSearch]);
  if (!isSearch) return NOTHING;
  return found.text === text ? found : { ...found, state: 'searching' };
}
