import { FatouraError, type Refusal } from './errors.ts';
import type { CallOptions, Http } from './http.ts';

/** An error of GraphQL: in the result of a mutation, or in the extensions of an error of the answer. */
interface Stated {
  readonly code?: string;
  readonly message?: string;
  readonly param?: string | null;
  readonly status?: number;
}

interface GraphqlAnswer {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly { readonly message: string; readonly extensions?: Stated }[];
}

/**
 * Runs an operation with one field, and returns what that field has.
 * @param isRepeatable whether a repetition does no harm
 * @throws ApiError, ConnectionError, CancelledError
 */
export async function run<Result>(
  http: Http,
  field: string,
  request: { readonly query: string; readonly variables: object },
  { isRepeatable, ...options }: CallOptions & { readonly isRepeatable: boolean },
): Promise<Result> {
  const call = { ...options, method: 'POST', path: '/graphql', body: request, isRepeatable } as const;
  const { value, headers } = await http.send(call);
  const { data, errors } = value as GraphqlAnswer;
  const requestId = headers.get('request-id');
  const [first] = errors ?? [];
  if (first) throw http.errorOf(refusalOf({ ...first.extensions, message: first.message }, requestId));
  const result = data?.[field];
  if (typeof result !== 'object' || result === null) throw new FatouraError(`the answer has no ${field}`);
  if ('code' in result && 'message' in result) throw http.errorOf(refusalOf(result as Stated, requestId));
  return result as Result;
}

function refusalOf(
  { code, message = 'refused', param = null, status = 400 }: Stated,
  requestId: string | null,
): Refusal {
  return { code: code ?? null, message, param, status, requestId, retryAfterMs: null };
}
