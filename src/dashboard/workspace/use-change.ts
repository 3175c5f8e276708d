import type { AnyVariables, TypedDocumentNode } from '@urql/core';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { isSessionEnd } from '../graphql/client.ts';
import { signInAddress } from './session.ts';
import { useWorkspace } from './workspace-context.ts';

/** The members of a mutation's union that refuse it. */
interface Refused {
  readonly message: string;
}

export interface Change<Result extends object, Variables> {
  /** @returns the payload; null if the change was refused or its outcome is unknown */
  readonly run: (variables: Variables) => Promise<Exclude<Result, Refused> | null>;
  readonly busy: boolean;
  /** The service's message, in English; `unreachable` without an answer. Null before the first refusal. */
  readonly refusal: string | null;
}

/** Runs a mutation with one field, whose errors have a message (docs/api/graphql.md, "Errors"). One at a time. */
export function useChange<Result extends object, Variables extends AnyVariables>(
  document: TypedDocumentNode<{ readonly result: Result }, Variables>,
): Change<Result, Variables> {
  const { client } = useWorkspace();
  const { route } = useLocation();
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<string | null>(null);
  return {
    busy,
    refusal,
    async run(variables) {
      if (busy) return null;
      setBusy(true);
      setRefusal(null);
      const { data, error } = await client.mutation(document, variables).toPromise();
      setBusy(false);
      if (error && isSessionEnd(error)) {
        route(signInAddress(), true);
        return null;
      }
      if (error || !data) {
        setRefusal(error?.graphQLErrors[0]?.message ?? 'unreachable');
        return null;
      }
      if ('message' in data.result) {
        setRefusal(String(data.result.message));
        return null;
      }
      return data.result as Exclude<Result, Refused>;
    },
  };
}
