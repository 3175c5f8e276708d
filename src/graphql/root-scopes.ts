import {
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import { ServiceError } from '../domain/errors.ts';
import type { Principal } from '../domain/principal.ts';
import { scopesOf } from './builder.ts';
import { definitionOf } from './selected-fields.ts';

type Scopes = ReturnType<typeof scopesOf>;

/**
 * Finds out whether the caller may run no part of an operation, before reading the variables, which may be large. If
 * one field may run, or the root has fragments, the resolvers decide.
 * @returns the error that its first field would have; null if some part may run
 */
export function forbiddenOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
  principal: Principal,
): GraphQLError | null {
  const operation = getOperationAST(document, operationName);
  if (!operation) return null;
  const scopes = scopesOf(principal);
  let first: GraphQLError | null = null;
  for (const selection of operation.selectionSet.selections) {
    const refusal = selection.kind === Kind.FIELD ? refusalOf(schema, operation, selection, scopes) : null;
    if (refusal === null) return null;
    const path = [((selection as FieldNode).alias ?? (selection as FieldNode).name).value];
    first ??= new GraphQLError(refusal.message, { nodes: selection, path, originalError: refusal });
  }
  return first;
}

function refusalOf(
  schema: GraphQLSchema,
  { operation }: OperationDefinitionNode,
  { name }: FieldNode,
  scopes: Scopes,
): ServiceError | null {
  const definition = definitionOf(schema, name.value, schema.getRootType(operation) ?? null);
  const options = definition?.extensions.pothosOptions as { readonly authScopes?: Readonly<Record<string, unknown>> };
  try {
    for (const [scope, value] of Object.entries(options?.authScopes ?? {}))
      (scopes[scope as keyof Scopes] as (value: unknown) => boolean)(value);
    return null;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}
