import type { ResultOf } from 'gql.tada';
import { MOST_SEARCHED } from '../../domain/invoice/search/bounds.ts';
import { graphql } from '../graphql/graphql.ts';
import { useTypedRead } from '../workspace/use-typed-read.ts';

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

/** Returns the newest documents that match the typed text. During the next search, the earlier ones stay. */
export function useFound(typed: string): Found {
  const text = typed.split(/\s+/).slice(0, MOST_SEARCHED).join(' ');
  const isSearch = /[\p{L}\p{N}]/u.test(text);
  const { data, isCurrent } = useTypedRead(FOUND_DOCUMENTS, isSearch ? { search: text } : null, PAUSE_MS);
  if (!isSearch) return NOTHING;
  const state = isCurrent ? (data ? 'found' : 'failed') : 'searching';
  return { state, documents: data?.fiscalDocuments.nodes ?? [] };
}
