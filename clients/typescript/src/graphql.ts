import { FatouraError, type Refusal } from './errors.ts';
import type { Answer, CallOptions, Http } from './http.ts';
import { retryAfterOf } from './retries.ts';

/** An error in the result of a mutation, or in the extensions of an error of the answer. */
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
 * Runs an operation with one field, and returns the value of that field.
 * @param isRepeatable whether a repetition does no harm
 * @throws ApiError, ConnectionError, CancelledError
 */
export async function run<Result>(
  http: Http,
  field: string,
  request: { readonly query: string; readonly variables: object },
  { isRepeatable, ...options }: CallOptions & { readonly isRepeatable: boolean },
): Promise<Result> {
  const refusalIn = (answer: Answer) => refusalOf(field, answer);
  const call = { ...options, method: 'POST', path: '/graphql', body: request, isRepeatable, refusalIn } as const;
  const { value } = await http.send(call);
  const result = (value as GraphqlAnswer).data?.[field];
  if (typeof result !== 'object' || result === null) throw new FatouraError(`the answer has no ${field}`);
  return result as Result;
}

/** Reads a refusal. GraphQL answers it with status 200, also if the service is not available. */
function refusalOf(field: string, { value, headers }: Answer): Refusal | null {
  const { data, errors } = value as GraphqlAnswer;
  const [first] = errors ?? [];
  const stated = first ? { ...first.extensions, message: first.message } : (data?.[field] as Stated | null | undefined);
  const { code = null, message, param = null, status = 400 } = stated ?? {};
  if (message === undefined) return null;
  return { code, message, param, status, requestId: headers.get('request-id'), retryAfterMs: retryAfterOf(headers) };
}
