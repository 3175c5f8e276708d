import type { AnyVariables, TypedDocumentNode } from '@urql/core';
import { useState } from 'preact/hooks';
import { useAfterTyping } from '../interface/use-after-typing.ts';
import { useWorkspace } from './workspace-context.ts';

export interface TypedRead<Data> {
  /** The latest answer; null before the first one, and after a failure. */
  readonly data: Data | null;
  /** Whether it is the answer to the present text. */
  readonly isCurrent: boolean;
}

/**
 * Runs a query about a typed text, after a pause in typing. While the next answer is awaited, the earlier one stays.
 * @param variables null: no query is sent
 * @param pauseMs milliseconds
 */
export function useTypedRead<Data, Variables extends AnyVariables>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables | null,
  pauseMs: number,
): TypedRead<Data> {
  const { client } = useWorkspace();
  const [answer, setAnswer] = useState<{ key: string; data: Data | null }>({ key: '', data: null });
  const key = variables === null ? null : JSON.stringify(variables);
  useAfterTyping(key, pauseMs, async (isCurrent) => {
    if (key === null) return;
    const { data } = await client.query(document, JSON.parse(key)).toPromise();
    if (isCurrent()) setAnswer({ key, data: data ?? null });
  });
  return { data: answer.data, isCurrent: answer.key === key };
}
