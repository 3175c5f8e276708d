import type { AnyVariables, TypedDocumentNode } from '@urql/core';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { isSessionEnd, isUnconfirmed, reasonOf } from '../graphql/client.ts';
import type { Reason } from '../text/errors.ts';
import { useConfirmation } from './confirmation.tsx';
import { signInAddress } from './session.ts';
import { useWorkspace } from './workspace-context.ts';

/** The members of a mutation's union that refuse it. */
type Refused = Exclude<Reason, 'unreachable'>;

/** The refusal that several changes show in one place. Each change removes the refusal of the previous one. */
export type SharedRefusal = readonly [Reason | null, (why: Reason | null) => void];

export function useSharedRefusal(): SharedRefusal {
  return useState<Reason | null>(null);
}

export interface Change<Result extends object, Variables> {
  /** Runs the mutation. @returns the payload; null if the change was refused or its outcome is unknown */
  readonly run: (variables: Variables) => Promise<Exclude<Result, Refused> | null>;
  readonly busy: boolean;
  /** Null before the first refusal, and again when the change is retried. */
  readonly refusal: Reason | null;
}

/**
 * Returns a function that runs a mutation with one field, whose errors have code and message (docs/api/graphql.md,
 * "Errors"). One runs at a time. Where the service asks for the password, the person enters it in a dialog and the
 * mutation runs again; without it, the refusal is `confirmation_required`.
 * @param shared the shared place for the refusal, if other changes show theirs there too
 */
export function useChange<Result extends object, Variables extends AnyVariables>(
  document: TypedDocumentNode<{ readonly result: Result }, Variables>,
  shared?: SharedRefusal,
): Change<Result, Variables> {
  const { client } = useWorkspace();
  const { route } = useLocation();
  const confirm = useConfirmation();
  const [busy, setBusy] = useState(false);
  const own = useSharedRefusal();
  const [refusal, setRefusal] = shared ?? own;
  return {
    busy,
    refusal,
    async run(variables) {
      if (busy) return null;
      setBusy(true);
      setRefusal(null);
      const send = () => client.mutation(document, variables).toPromise();
      let answer = await send();
      // Nothing was done yet. The request is sent again as it was, with its idempotency key.
      if (isUnconfirmed(answer.error) && (await confirm())) answer = await send();
      const { data, error } = answer;
      setBusy(false);
      if (error && isSessionEnd(error)) {
        route(signInAddress(), true);
        return null;
      }
      if (error || !data) {
        setRefusal(reasonOf(error));
        return null;
      }
      if ('message' in data.result) {
        setRefusal(data.result as unknown as Refused);
        return null;
      }
      return data.result as Exclude<Result, Refused>;
    },
  };
}
