import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  type InlineFragmentNode,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
} from 'graphql';

/** Returns the definition of a field by its name, including the root fields of introspection. */
export function definitionOf(schema: GraphQLSchema, name: string, parent: GraphQLNamedType | null) {
  if (parent === schema.getQueryType()) {
    if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
    if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
  }
  return (isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : null) ?? null;
}

export function isList(field: Pick<GraphQLField<unknown, unknown>, 'type'>): boolean {
  return isListType(getNullableType(field.type));
}

const known = new WeakMap<FieldNode, number>();

/**
 * Maximum number of non-null levels of `__Type.ofType`: a type of this schema has at most three wrappers, `[Type!]!`.
 */
const WRAPPERS = 3;

/** Counts the fields of the answer for each item of a list, including the item. Nested lists are counted separately. */
export function fieldsAnItem(info: GraphQLResolveInfo): number {
  const parent = getNamedType(info.returnType);
  let sum = 1;
  for (const node of info.fieldNodes) {
    if (!node.selectionSet) continue;
    let below = known.get(node);
    if (below === undefined) {
      below = fieldsOf(node.selectionSet, parent, info);
      known.set(node, below);
    }
    sum += below;
  }
  return sum;
}

const knownNames = new WeakMap<FieldNode, ReadonlySet<string>>();

/**
 * Returns the names of the fields that are selected at a path below a field, also those under `@skip` and `@include`.
 * @param path names of fields, such as `nodes`; by default those directly below the field
 */
export function selectedNames(
  { fieldNodes, fragments }: Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>,
  path: readonly string[] = [],
): ReadonlySet<string> {
  let nodes: readonly FieldNode[] = fieldNodes;
  for (const name of path)
    nodes = nodes.flatMap((each) => [...fieldsIn(each, fragments)].filter((field) => field.name.value === name));
  const [only, ...others] = nodes.map((node) => {
    const names = knownNames.get(node) ?? new Set([...fieldsIn(node, fragments)].map(({ name }) => name.value));
    knownNames.set(node, names);
    return names;
  });
  return others.reduce((all, names) => all.union(names), only ?? new Set<string>());
}

/** Yields the fields of a selection, those of its fragments included. */
function* fieldsIn(
  { selectionSet }: Pick<FieldNode | FragmentDefinitionNode | InlineFragmentNode, 'selectionSet'>,
  fragments: GraphQLResolveInfo['fragments'],
): Generator<FieldNode> {
  for (const selection of selectionSet?.selections ?? []) {
    if (selection.kind === Kind.FIELD) {
      yield selection;
      continue;
    }
    const part = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments[selection.name.value];
    if (part) yield* fieldsIn(part, fragments);
  }
}

function fieldsOf(
  { selections }: SelectionSetNode,
  parent: GraphQLNamedType | null | undefined,
  info: Pick<GraphQLResolveInfo, 'schema' | 'fragments'>,
  wrappers = WRAPPERS,
): number {
  let sum = 0;
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) {
      const field = definitionOf(info.schema, selection.name.value, parent ?? null);
      const left = parent?.name === '__Type' && selection.name.value === 'ofType' ? wrappers - 1 : wrappers;
      const goesOn = selection.selectionSet && field && !isList(field) && left >= 0;
      sum += 1 + (goesOn ? fieldsOf(selection.selectionSet, getNamedType(field.type), info, left) : 0);
      continue;
    }
    const part = selection.kind === Kind.INLINE_FRAGMENT ? selection : info.fragments[selection.name.value];
    if (!part) continue;
    const name = part.typeCondition?.name.value;
    sum += fieldsOf(part.selectionSet, name === undefined ? parent : info.schema.getType(name), info, wrappers);
  }
  return sum;
}
