import {
  type ASTNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
} from 'graphql';
import { ANSWER_BYTES } from '../domain/answer-bounds.ts';

/**
 * Limits of one operation. It counts as one request for the rate limit, so it must not cause the work of thousands. A
 * fragment counts at each place where it is spread. GraphiQL's introspection query has 230 fields.
 */
export const LIMITS = {
  /** Characters of a document. Values belong into variables. */
  characters: 100_000,
  tokens: 5000,
  /** Levels of fields. graphql-js limits those of introspection itself. */
  depth: 12,
  /** Root fields: those of Query, Mutation or Subscription. */
  rootFields: 10,
  fields: 500,
  aliases: 50,
  /**
   * Selections in the text of a document: fields, spreads and inline fragments of all its operations and fragments,
   * used or not. Validation compares them in pairs.
   */
  selections: 600,
  fragments: 50,
  /** Items of all lists in the variables together. An invoice has at most 1,000 lines. */
  listItems: 3000,
  /** Characters of a subscription's variables. The longest cursor has 1,100. */
  subscriptionVariables: 4000,
  /** Reported errors of a document, or of its variables. */
  errors: 20,
  /** Fields of an answer, counted while resolvers run. */
  answerFields: 30_000,
  /** Bytes of an answer, counted while it is serialized. */
  answerBytes: ANSWER_BYTES,
  /** Maximum number of times that a mutation selects the same list, or the same text of a list's items. */
  copies: 10,
} as const;

/** Counts of the selections of an operation. A fragment counts at each place where it is spread. */
interface Selected {
  readonly root: number;
  readonly fields: number;
  readonly aliases: number;
  readonly depth: number;
}

/**
 * Checks the limits of a document. Only the text is needed, so the document may be invalid.
 * @returns one error for each operation that exceeds a limit: the first limit that it exceeds
 */
export function exceededLimits(document: DocumentNode): GraphQLError[] {
  const errors: GraphQLError[] = [];
  for (const operation of document.definitions) {
    if (operation.kind !== Kind.OPERATION_DEFINITION) continue;
    const { root, fields, aliases, depth } = selectedBy(document, operation);
    if (root > LIMITS.rootFields) errors.push(refusal(`${LIMITS.rootFields} fields at its root`, operation));
    else if (fields > LIMITS.fields) errors.push(refusal(`${LIMITS.fields} fields in all`, operation));
    else if (aliases > LIMITS.aliases) errors.push(refusal(`${LIMITS.aliases} aliases`, operation));
    else if (depth > LIMITS.depth) errors.push(refusal(`${LIMITS.depth} levels of fields`, operation));
  }
  if (errors.length > 0) return errors;
  const written = exceededText(document);
  return written ? [written] : [];
}

/** Returns the first limit that the text of the document exceeds, including parts that no operation uses. */
function exceededText({ definitions }: DocumentNode): GraphQLError | null {
  let [selections, fragments] = [0, 0];
  const count = (set: SelectionSetNode): void => {
    selections += set.selections.length;
    for (const each of set.selections) if ('selectionSet' in each && each.selectionSet) count(each.selectionSet);
  };
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments++;
    if ('selectionSet' in definition) count(definition.selectionSet);
  }
  const most = (what: string) => new GraphQLError(`A document may have at most ${what}.`);
  if (selections > LIMITS.selections) return most(`${LIMITS.selections} selections in all`);
  return fragments > LIMITS.fragments ? most(`${LIMITS.fragments} fragments`) : null;
}

function refusal(most: string, nodes: ASTNode): GraphQLError {
  return new GraphQLError(`An operation may have at most ${most}.`, { nodes });
}

/**
 * Returns how many requests an operation counts for the rate limit: one for each root field of a mutation, otherwise 1.
 */
export function requestsOf(document: DocumentNode, operation: OperationDefinitionNode | null | undefined): number {
  if (operation?.operation !== OperationTypeNode.MUTATION) return 1;
  return Math.max(1, selectedBy(document, operation).root);
}

const NOTHING: Selected = { root: 0, fields: 0, aliases: 0, depth: 0 };

/** Counts the selections of an operation. */
export function selectedBy(document: DocumentNode, operation: OperationDefinitionNode): Selected {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const each of document.definitions) {
    if (each.kind === Kind.FRAGMENT_DEFINITION) fragments.set(each.name.value, each);
  }
  const spread = new Map<string, Selected>();
  return ofSelections(operation.selectionSet);

  function ofSelections({ selections }: SelectionSetNode): Selected {
    const sum = { ...NOTHING };
    for (const selection of selections) {
      const part =
        selection.kind === Kind.FIELD
          ? ofField(selection)
          : selection.kind === Kind.FRAGMENT_SPREAD
            ? ofSpread(selection.name.value)
            : ofSelections(selection.selectionSet);
      sum.root += part.root;
      sum.fields += part.fields;
      sum.aliases += part.aliases;
      sum.depth = Math.max(sum.depth, part.depth);
    }
    return sum;
  }

  function ofField({ name, alias, selectionSet }: FieldNode): Selected {
    const below = selectionSet ? ofSelections(selectionSet) : NOTHING;
    return {
      root: 1,
      fields: 1 + below.fields,
      aliases: (alias ? 1 : 0) + below.aliases,
      // graphql-js limits the depth of introspection.
      depth: name.value.startsWith('__') ? 1 : 1 + below.depth,
    };
  }

  function ofSpread(name: string): Selected {
    const known = spread.get(name);
    if (known) return known;
    // A fragment that spreads itself counts as nothing here, because the validation rules refuse it.
    spread.set(name, NOTHING);
    const fragment = fragments.get(name);
    const selected = fragment ? ofSelections(fragment.selectionSet) : NOTHING;
    spread.set(name, selected);
    return selected;
  }
}
