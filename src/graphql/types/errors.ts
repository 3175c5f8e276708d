import { type ErrorCode, type Problem, ServiceError } from '../../domain/errors.ts';
import { builder } from '../builder.ts';

const FIELD_TEXTS = {
  code: "REST's code, for programs: `invalid_request`, `amount_too_small`, …",
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
    code: t.exposeString('code', { description: FIELD_TEXTS.code }),
    message: t.exposeString('message', { description: FIELD_TEXTS.message }),
    param: t.exposeString('param', { nullable: true, description: FIELD_TEXTS.param }),
    status: t.exposeInt('status', { description: FIELD_TEXTS.status }),
  }),
});

export const ProblemType = builder.objectRef<Problem>('Problem').implement({
  description: 'One thing that is wrong with an input.',
  fields: (t) => ({
    code: t.exposeString('code', { description: FIELD_TEXTS.code }),
    message: t.exposeString('message', { description: FIELD_TEXTS.message }),
    param: t.exposeString('param', { nullable: true, description: FIELD_TEXTS.param }),
    status: t.exposeInt('status', { description: FIELD_TEXTS.status }),
    expected: t.string({
      nullable: true,
      description: 'The value that would do, or the few: `12000`, `0, 7, 10, 14, 20`; null where that can not be said.',
      resolve: ({ expected }) => expected ?? null,
    }),
  }),
});

/** The plugin asks `instanceof` for the type of what was thrown: use cases know codes, not GraphQL's types. */
function thrown(error: unknown, is: (code: ErrorCode, status: number) => boolean): boolean {
  return error instanceof ServiceError && is(error.code, error.status);
}

/** An input that is not valid (400), or breaks a business rule (422). */
export class InvalidInputError extends ServiceError {
  static override [Symbol.hasInstance](error: unknown): boolean {
    return thrown(error, (code, status) => status === 400 || (status === 422 && !code.endsWith('_limit_reached')));
  }
}

/** No such thing, or another tenant's or environment's (404). */
export class NotFoundError extends ServiceError {
  static override [Symbol.hasInstance](error: unknown): boolean {
    return thrown(error, (code) => code === 'resource_not_found');
  }
}

/** An idempotency key that was used with another input (409). */
export class IdempotencyConflictError extends ServiceError {
  static override [Symbol.hasInstance](error: unknown): boolean {
    return thrown(error, (code) => code === 'idempotency_conflict');
  }
}

/** As many as there may be (422, `…_limit_reached`). */
export class LimitReachedError extends ServiceError {
  static override [Symbol.hasInstance](error: unknown): boolean {
    return thrown(error, (code) => code.endsWith('_limit_reached'));
  }
}

builder.objectType(InvalidInputError, {
  name: 'InvalidInputError',
  description: 'The input is not valid (400), or breaks a business rule (422).',
  interfaces: [ErrorInterface],
  fields: (t) => ({
    problems: t.field({
      type: [ProblemType],
      extensions: { most: 100 },
      description:
        'All that is wrong, of the same status, in the order of the documented fields; the first is this error itself.',
      resolve: ({ problems }) => [...problems],
    }),
  }),
});

builder.objectType(NotFoundError, {
  name: 'NotFoundError',
  description: 'There is no such thing, or it is another tenant’s or environment’s (404).',
  interfaces: [ErrorInterface],
});

builder.objectType(IdempotencyConflictError, {
  name: 'IdempotencyConflictError',
  description: 'The idempotency key was used with another input (409). Use a new key for a new invoice.',
  interfaces: [ErrorInterface],
});

builder.objectType(LimitReachedError, {
  name: 'LimitReachedError',
  description: 'There are as many as there may be (422).',
  interfaces: [ErrorInterface],
});
