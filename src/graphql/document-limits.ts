import { type ASTNode, GraphQLError, Kind, type SelectionSetNode, type ValidationRule } from 'graphql';

/** The most fields that an operation may ask of Query, Mutation or Subscription, aliases counted. */
export const MAX_ROOT_FIELDS = 10;
/** The most fields in all of an operation, fragments counted wherever they are spread. GraphiQL's introspection has under 200. */
export const MAX_FIELDS = 500;

/** Keeps one request, which counts once for the rate limit, from doing the work of thousands by aliases and fragments. */
export const documentLimits: ValidationRule = (context) => {
  const sizes = new Map<string, Size>();

  function sizeOf({ selections }: SelectionSetNode): Size {
    const size = { root: 0, all: 0 };
    for (const selection of selections) {
      const part =
        selection.kind === Kind.FIELD
          ? { root: 1, all: 1 + (selection.selectionSet ? sizeOf(selection.selectionSet).all : 0) }
          : selection.kind === Kind.INLINE_FRAGMENT
            ? sizeOf(selection.selectionSet)
            : sizeOfFragment(selection.name.value);
      size.root += part.root;
      size.all += part.all;
    }
    return size;
  }

  function sizeOfFragment(name: string): Size {
    const known = sizes.get(name);
    if (known) return known;
    // Fragments that spread themselves are another rule's business.
    sizes.set(name, { root: 0, all: 0 });
    const fragment = context.getFragment(name);
    const size = fragment ? sizeOf(fragment.selectionSet) : { root: 0, all: 0 };
    sizes.set(name, size);
    return size;
  }

  const refuse = (most: string, node: ASTNode) =>
    context.reportError(new GraphQLError(`An operation may have at most ${most}.`, { nodes: node }));
  return {
    OperationDefinition(node) {
      const { root, all } = sizeOf(node.selectionSet);
      if (root > MAX_ROOT_FIELDS) refuse(`${MAX_ROOT_FIELDS} fields at its root`, node);
      if (all > MAX_FIELDS) refuse(`${MAX_FIELDS} fields in all`, node);
    },
  };
};

interface Size {
  readonly root: number;
  readonly all: number;
}
