import { type DocumentNode, isUnionType, Kind, parse, TypeInfo, visit, visitWithTypeInfo } from 'graphql';
import { type Problem, ServiceError } from '../domain/errors.ts';
import { schema } from './schema.ts';

/** The selection for a mutation's typed errors. The alias `refused` distinguishes an error from a payload. */
const [SELECTION] = parse(`{
  ... on Error {
    refused: __typename code message param status
    ... on InvalidInputError { problems { code message param status } }
  }
}`).definitions;

type Refusal = Problem & { readonly refused: string; readonly problems?: readonly [Problem, ...Problem[]] };

/** Adds the selection that {@link throwRefusal} needs to every union that may contain a typed error. */
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

/** @throws {ServiceError} the typed error in the data of a mutation, with the problems that the use case reported */
export function throwRefusal(data: Readonly<Record<string, unknown>>): void {
  for (const answer of Object.values(data)) {
    if (answer === null || typeof answer !== 'object' || !('refused' in answer)) continue;
    const { code, message, param, status, problems } = answer as Refusal;
    throw new ServiceError(problems ?? [{ code, message, param, status }]);
  }
}
