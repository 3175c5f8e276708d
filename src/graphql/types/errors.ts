import { ERRORS, rowOfError } from '../../domain/error-codes.ts';
import { type Problem, ServiceError } from '../../domain/errors.ts';
import { TAX_RATES } from '../../domain/invoice/tax-rate.ts';
import { MAX_PROBLEMS } from '../../domain/limits.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../enum-of.ts';

const ErrorCodeType = enumOf('ErrorCode', 'What was wrong, for programs. More may be added.', ERRORS);

const FIELD_TEXTS = {
  code: 'What was wrong, for programs.',
  message: 'What was wrong and what was expected, for a person.',
  param:
    'Dotted path of the field at fault, relative to the input: `customer.ice`, `lines.0.taxRate`; null where none is.',
  status: 'The HTTP status that REST answers with.',
} as const;

/** What a mutation refuses, as a part of its answer. Which of the types below it is follows from its code. */
export const ErrorInterface = builder.interfaceRef<ServiceError>('Error').implement({
  description:
    'Why a mutation was refused; nothing was changed. Credentials, scopes, the rate limit and defects are errors of the request instead.',
  fields: (t) => ({
    code: t.expose('code', { type: ErrorCodeType, description: FIELD_TEXTS.code }),
    message: t.exposeString('message', { description: FIELD_TEXTS.message }),
    param: t.exposeString('param', { nullable: true, description: FIELD_TEXTS.param }),
    status: t.exposeInt('status', { description: FIELD_TEXTS.status }),
  }),
});

export const ProblemType = builder.objectRef<Problem>('Problem').implement({
  description: 'One thing that is wrong with an input.',
  fields: (t) => ({
    code: t.expose('code', { type: ErrorCodeType, description: FIELD_TEXTS.code }),
    message: t.exposeString('message', { description: FIELD_TEXTS.message }),
    param: t.exposeString('param', { nullable: true, description: FIELD_TEXTS.param }),
    status: t.exposeInt('status', { description: FIELD_TEXTS.status }),
    expected: t.string({
      nullable: true,
      description: `The value or values that are accepted: \`12000\`, \`${TAX_RATES.join(', ')}\`; null where they cannot be listed.`,
      resolve: ({ expected }) => expected ?? null,
    }),
  }),
});

/**
 * The class of a typed error: the plugin asks `instanceof` for the type of what was thrown, and the table of codes knows it. Use cases
 * throw codes, not GraphQL's types.
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
export const LimitReachedError = typedError('LimitReachedError');

builder.objectType(InvalidInputError, {
  name: 'InvalidInputError',
  description: 'The input is not valid (400), or breaks a business rule (422).',
  interfaces: [ErrorInterface],
  fields: (t) => ({
    problems: t.field({
      type: [ProblemType],
      extensions: { most: MAX_PROBLEMS },
      description:
        'All that is wrong, of the same status, in the order of the documented fields; the first is this error itself.',
      resolve: ({ problems }) => [...problems],
    }),
  }),
});

builder.objectType(NotFoundError, {
  name: 'NotFoundError',
  description: 'There is no such object, or it belongs to another tenant or environment (404).',
  interfaces: [ErrorInterface],
});

builder.objectType(IdempotencyConflictError, {
  name: 'IdempotencyConflictError',
  description: 'The idempotency key was used with another input (409). Use a new key for a new invoice.',
  interfaces: [ErrorInterface],
});

builder.objectType(LimitReachedError, {
  name: 'LimitReachedError',
  description: 'The maximum number is reached (422).',
  interfaces: [ErrorInterface],
});
