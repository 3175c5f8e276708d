import {
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
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
