import type { ServiceError } from '../../domain/errors.ts';

/** The contract's error body ("Errors"). */
export function errorBody({ code, message, param, status }: ServiceError) {
  return { error: { code, message, param, status } };
}
