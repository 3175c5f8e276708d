import { type DocumentNode, isUnionType, Kind, parse, TypeInfo, visit, visitWithTypeInfo } from 'graphql';
import { type Problem, ServiceError } from '../domain/errors.ts';
import { schema } from './schema.ts';

/** What is selected of a mutation's typed errors; `refused` tells them from success. */
const [SELECTION] = parse(`{
  ... on Error {
    refused: __typename code message param status
    ... on InvalidInputError { problems { code message param status } }
  }
}`).definitions;

type Refusal = Problem & { readonly refused: string; readonly problems?: readonly [Problem, ...Problem[]] };

/** The document with all that {@link throwRefusal} needs selected wherever a typed error may be answered. */
export function selectRefusals(document: DocumentNode): DocumentNode {
  const types = new TypeInfo(schema);
  return visit(
    document,
    visitWithTypeInfo(types, {
      SelectionSet(node) {
        const type = types.getParentType();
        if (!isUnionType(type) || SELECTION?.kind !== Kind.OPERATION_DEFINITION) return undefined;
        return { ...node, selections: [...node.selections, ...SELECTION.selectionSet.selections] };
      },
    }),
  );
}

/** @throws {ServiceError} the typed error among the answers of an operation, as the use case threw it */
export function throwRefusal(data: Readonly<Record<string, unknown>>): void {
  for (const answer of Object.values(data)) {
    if (answer === null || typeof answer !== 'object' || !('refused' in answer)) continue;
    const { code, message, param, status, problems } = answer as Refusal;
    throw new ServiceError(problems ?? [{ code, message, param, status }]);
  }
}
