import type { ResultOf } from 'gql.tada';
import type { CREATE_KEY } from '../keys/documents.ts';

export { ERROR_TEXTS } from '../../text/error-texts.ts';

/** The codes of the service's errors (docs/api/contract.md, "Errors"). */
export type ErrorCode = Extract<ResultOf<typeof CREATE_KEY>['result'], { code: unknown }>['code'];

/** A fault of the input. */
export interface InputProblem {
  readonly code: ErrorCode;
  readonly message: string;
  /** Dotted path of the field; null if it concerns no field. */
  readonly param: string | null;
  /** The accepted values; null if they cannot be listed. */
  readonly expected: string | null;
}

/** The service's error, or `unreachable` if there was no answer. */
export type Reason =
  | 'unreachable'
  | { readonly code: ErrorCode; readonly message: string; readonly problems?: readonly InputProblem[] };
