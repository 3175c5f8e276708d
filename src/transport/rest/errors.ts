import type { ServiceError } from '../../domain/errors.ts';

/** Makes the error body of the contract (docs/api/contract.md, "Errors"). */
export function errorBody({ code, message, param, status }: ServiceError) {
  return { error: { code, message, param, status } };
}

/** `Retry-After` of a 503 whose cause states no time, seconds. */
export const ASK_AGAIN_SECONDS = '2';
