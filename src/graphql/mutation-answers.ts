import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLNamedType,
  getNamedType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
} from 'graphql';
import { LIMITS } from './limits.ts';
import { schema } from './schema.ts';
import { definitionOf, isList } from './selected-fields.ts';

/** Types whose objects are searched for each item of a list that refers to them, and may be large. */
export const SEARCHED: readonly string[] = ['Invoice', 'WebhookEvent', 'WebhookAttempt'];

/**
 * Checks the answers of the mutations of a valid document. A mutation cannot be refused after it has run, so its answer
 * may be only a few times as large as the object that it returns.
 * @returns one error for each mutation that breaks a rule
 */
export function exceededAnswers(document: DocumentNode): GraphQLError[] {
  return document.definitions.flatMap((operation) => {
    if (operation.kind !== Kind.OPERATION_DEFINITION || operation.operation !== OperationTypeNode.MUTATION) return [];
    const { searched, copies, field } = selectedBy(document, operation);
    if (searched) {
      const message = `In the lists of a mutation's answer, "${searched.name.value}" cannot be selected. Query it after the mutation.`;
      return [new GraphQLError(message, { nodes: searched })];
    }
    if (copies <= LIMITS.copies) return [];
    const message = `A mutation may select the same list, or text in a list, at most ${LIMITS.copies} times; this one selects "${field}" ${copies} times.`;
    return [new GraphQLError(message, { nodes: operation })];
  });
}

/**
 * Returns the maximum number of times that a valid mutation selects the same list, or the same text of a list's items.
 */
export function copiesIn(document: DocumentNode, operation: OperationDefinitionNode): number {
  return selectedBy(document, operation).copies;
}

function selectedBy(document: DocumentNode, operation: OperationDefinitionNode) {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const each of document.definitions) {
    if (each.kind === Kind.FRAGMENT_DEFINITION) fragments.set(each.name.value, each);
  }
  let [copies, field] = [0, ''];
  let searched: FieldNode | null = null;
  const counts = new Map<string, number>();
  visit(operation.selectionSet, schema.getMutationType(), false);
  return { copies, field, searched: searched as FieldNode | null };

  /** A fragment counts at each place where it is spread. */
  function visit({ selections }: SelectionSetNode, parent: GraphQLNamedType | null | undefined, isInList: boolean) {
    for (const node of selections) {
      if (node.kind !== Kind.FIELD) {
        const part = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value);
        const name = part?.typeCondition?.name.value;
        if (part) visit(part.selectionSet, name === undefined ? parent : schema.getType(name), isInList);
        continue;
      }
      const definition = definitionOf(schema, node.name.value, parent ?? null);
      // `__typename` has no definition.
      if (!definition) continue;
      const type = getNamedType(definition.type);
      if (isInList && SEARCHED.includes(type.name)) searched ??= node;
      if (isList(definition) || (isInList && type.name === 'String')) {
        const name = `${parent?.name}.${definition.name}`;
        const count = (counts.get(name) ?? 0) + 1;
        counts.set(name, count);
        if (count > copies) [copies, field] = [count, name];
      }
      if (node.selectionSet) visit(node.selectionSet, type, isInList || isList(definition));
    }
  }
}
