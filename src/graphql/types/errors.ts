import { ERRORS, rowOfError } from '../../domain/error-codes.ts';
import { type Problem, ServiceError } from '../../domain/errors.ts';
import { TAX_RATES } from '../../domain/invoice/tax-rate.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../enum-of.ts';

const ErrorCodeType = enumOf('ErrorCode', 'Error code, for programs. More codes may be added.', ERRORS);

const FIELD_TEXTS = {
  code: 'Error code, for programs.',
  message: 'What was wrong and what was expected, as a sentence.',
  param:
    'Dotted path of the invalid field, relative to the input: `customer.ice`, `lines.0.taxRate`; null if the error concerns no field.',
  status: 'The HTTP status that REST returns.',
} as const;

/** A refusal of a mutation, as part of its answer. The error's code determines which of the types below it has. */
const ErrorInterface = builder.interfaceRef<ServiceError>('Error').implement({
  description:
    'Why a mutation was refused; it changed nothing. Errors of credentials, scopes and the rate limit, and internal errors, are in `errors` of the answer instead.',
  fields: (t) => ({
    code: t.expose('code', { type: ErrorCodeType, description: FIELD_TEXTS.code }),
    message: t.exposeString('message', { description: FIELD_TEXTS.message }),
    param: t.exposeString('param', { nullable: true, description: FIELD_TEXTS.param }),
    status: t.exposeInt('status', { description: FIELD_TEXTS.status }),
  }),
});

export const ProblemType = builder.objectRef<Problem>('Problem').implement({
  description: 'One fault of an input.',
  fields: (t) => ({
    code: t.expose('code', { type: ErrorCodeType, description: FIELD_TEXTS.code }),
    message: t.exposeString('message', { description: FIELD_TEXTS.message }),
    param: t.exposeString('param', { nullable: true, description: FIELD_TEXTS.param }),
    status: t.exposeInt('status', { description: FIELD_TEXTS.status }),
    expected: t.string({
      nullable: true,
      description: `The accepted values: \`12000\`, \`${TAX_RATES.join(', ')}\`; null if they cannot be listed.`,
      resolve: ({ expected }) => expected ?? null,
    }),
  }),
});

/**
 * Makes the class of a typed error. Use cases throw codes, not GraphQL types. The errors plugin finds the type of an
 * error with `instanceof`, which here looks up the error's code in the table of codes.
 */
function typedError(name: ReturnType<typeof rowOfError>['type']) {
  return class extends ServiceError {
    static override [Symbol.hasInstance](error: unknown): boolean {
      return error instanceof ServiceError && rowOfError(error.code).type === name;
    }
  };
}

export const InvalidInputError = typedError('InvalidInputError');
export const NotFoundError = typedError('NotFoundError');
export const IdempotencyConflictError = typedError('IdempotencyConflictError');
export const ConflictError = typedError('ConflictError');
export const LimitReachedError = typedError('LimitReachedError');

builder.objectType(InvalidInputError, {
  name: 'InvalidInputError',
  description: 'The input is not valid (400), or breaks a business rule (422).',
  interfaces: [ErrorInterface],
  fields: (t) => ({
    problems: t.field({
      type: [ProblemType],
      description:
        'All faults of the same status, in the order of the documented fields; the first one is this error itself.',
      resolve: ({ problems }) => [...problems],
    }),
  }),
});

builder.objectType(NotFoundError, {
  name: 'NotFoundError',
  description: 'The object does not exist, or belongs to another tenant or environment (404).',
  interfaces: [ErrorInterface],
});

builder.objectType(IdempotencyConflictError, {
  name: 'IdempotencyConflictError',
  description: 'The idempotency key was used with another input (409). Use a new key for a new document.',
  interfaces: [ErrorInterface],
});

builder.objectType(ConflictError, {
  name: 'ConflictError',
  description: 'The object is no longer as the request assumes (409). Read it again.',
  interfaces: [ErrorInterface],
});

builder.objectType(LimitReachedError, {
  name: 'LimitReachedError',
  description: 'The tenant has the maximum number of such objects (422).',
  interfaces: [ErrorInterface],
});
