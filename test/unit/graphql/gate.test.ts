import { GraphQLError, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { createGate } from '../../../src/graphql/gate.ts';

const LEVELS = 500;
const DEEP = `${'{...'.repeat(LEVELS)}{ __typename }${'}'.repeat(LEVELS)}`;
const TOO_DEEP = 'The document is nested too deep.';

const gate = createGate({ introspection: false });

/** What a function returns where the call stack has just enough room left that no overflow leaves the function. */
function atTheEndOfTheStack<Result>(run: () => Result): Result {
  try {
    return atTheEndOfTheStack(run);
  } catch {
    return run();
  }
}

describe('a document on which the call stack overflows', () => {
  it('is a GraphQL error of parse', () => {
    const messageOfParse = (): string | null => {
      try {
        gate.parse(DEEP);
        return null;
      } catch (error) {
        if (error instanceof GraphQLError) return error.message;
        throw error;
      }
    };
    expect(atTheEndOfTheStack(messageOfParse)).toBe(TOO_DEEP);
    expect(messageOfParse()).toBeNull();
  });

  it('is an error that validate returns, as any other', () => {
    const document = parse(DEEP);
    expect(atTheEndOfTheStack(() => gate.validate(document)).map(({ message }) => message)).toEqual([TOO_DEEP]);
    expect(gate.validate(document)).toEqual([]);
  });
});
