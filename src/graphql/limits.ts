import {
  type ASTNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
} from 'graphql';

/**
 * The most that one operation may ask: a request counts once for the rate limit, and must not do the work of thousands. Fragments are
 * counted wherever they are spread. GraphiQL's introspection has 230 fields.
 */
export const LIMITS = {
  /** Characters of a document: values belong into variables. */
  characters: 100_000,
  tokens: 5000,
  /** Levels of fields; those of introspection are limited by graphql-js. */
  depth: 12,
  /** Fields of Query, Mutation or Subscription. */
  rootFields: 10,
  fields: 500,
  aliases: 50,
  /** Fields of the answer, lists at the length that is asked for. */
  cost: 30_000,
} as const;

/** Items of a page, where `first` and `last` do not say; the most that they may say. */
const [DEFAULT_PAGE, LARGEST_PAGE] = [20, 100];
/** What a list without pages is taken to hold. */
const LIST_LENGTH = 10;

/** What an operation asks for. */
export interface Size {
  readonly root: number;
  readonly fields: number;
  readonly aliases: number;
  readonly depth: number;
  readonly cost: number;
}

/**
 * Which limits a document exceeds, its cost aside: known from the text alone, before it is validated. It need not fit the schema.
 * @returns an error for the first limit of each operation
 */
export function exceededLimits(schema: GraphQLSchema, document: DocumentNode): GraphQLError[] {
  const errors: GraphQLError[] = [];
  for (const operation of document.definitions) {
    if (operation.kind !== Kind.OPERATION_DEFINITION) continue;
    const { root, fields, aliases, depth } = sizeOf(schema, document, operation, null);
    if (root > LIMITS.rootFields) errors.push(refusal(`${LIMITS.rootFields} fields at its root`, operation));
    else if (fields > LIMITS.fields) errors.push(refusal(`${LIMITS.fields} fields in all`, operation));
    else if (aliases > LIMITS.aliases) errors.push(refusal(`${LIMITS.aliases} aliases`, operation));
    else if (depth > LIMITS.depth) errors.push(refusal(`${LIMITS.depth} levels of fields`, operation));
  }
  return errors;
}

/**
 * Whether an operation that is valid would answer too much, pages being as long as these variables say.
 * @returns why it must not run, or null
 */
export function exceededCost(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): GraphQLError | null {
  const { cost } = sizeOf(schema, document, operation, variables);
  if (cost <= LIMITS.cost) return null;
  return refusal(
    `${LIMITS.cost.toLocaleString('en')} fields in its answer, lists being as long as asked for; this one may have ${cost.toLocaleString('en')}. Ask for shorter pages or fewer fields`,
    operation,
  );
}

function refusal(most: string, nodes: ASTNode): GraphQLError {
  return new GraphQLError(`An operation may have at most ${most}.`, { nodes });
}

/** @param variables null: a variable may ask for the longest page */
export function sizeOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>> | null,
): Size {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const each of document.definitions) {
    if (each.kind === Kind.FRAGMENT_DEFINITION) fragments.set(each.name.value, each);
  }
  const defaults = new Map(
    operation.variableDefinitions?.map(({ variable, defaultValue }) => [variable.name.value, defaultValue]),
  );
  const spread = new Map<string, Size>();
  const lengths = introspectedLengths(schema);
  return sizeOfSelections(operation.selectionSet, schema.getRootType(operation.operation) ?? null, null);

  /** @param page the length of the page that these fields describe: of the lists among them */
  function sizeOfSelections(
    { selections }: SelectionSetNode,
    parent: GraphQLNamedType | null,
    page: number | null,
  ): Size {
    const sum = { root: 0, fields: 0, aliases: 0, depth: 0, cost: 0 };
    for (const selection of selections) {
      const part =
        selection.kind === Kind.FIELD
          ? sizeOfField(selection, parent, page)
          : selection.kind === Kind.FRAGMENT_SPREAD
            ? sizeOfSpread(selection.name.value, page)
            : sizeOfSelections(selection.selectionSet, typeNamed(selection.typeCondition?.name.value) ?? parent, page);
      sum.root += part.root;
      sum.fields += part.fields;
      sum.aliases += part.aliases;
      sum.depth = Math.max(sum.depth, part.depth);
      sum.cost += part.cost;
    }
    return sum;
  }

  function sizeOfField(field: FieldNode, parent: GraphQLNamedType | null, page: number | null): Size {
    const definition = definitionOf(schema, field.name.value, parent);
    const aliases = field.alias ? 1 : 0;
    if (!field.selectionSet) return { root: 1, fields: 1, aliases, depth: 1, cost: 1 };
    const paged = definition?.args.some(({ name }) => name === 'first' || name === 'last') ?? false;
    const below = sizeOfSelections(
      field.selectionSet,
      definition ? getNamedType(definition.type) : null,
      paged ? pageLength(field) : null,
    );
    const isList = definition !== null && isListType(getNullableType(definition.type));
    const length = page ?? lengths.get(`${parent?.name}.${field.name.value}`) ?? LIST_LENGTH;
    return {
      root: 1,
      fields: 1 + below.fields,
      aliases: aliases + below.aliases,
      // graphql-js has a rule for the depth of introspection.
      depth: field.name.value.startsWith('__') ? 1 : 1 + below.depth,
      cost: ownCost(definition) + below.cost * (isList ? length : 1),
    };
  }

  function sizeOfSpread(name: string, page: number | null): Size {
    const key = `${name} ${page}`;
    const known = spread.get(key);
    if (known) return known;
    const nothing = { root: 0, fields: 0, aliases: 0, depth: 0, cost: 0 };
    // Fragments that spread themselves are a rule's business.
    spread.set(key, nothing);
    const fragment = fragments.get(name);
    const size = fragment
      ? sizeOfSelections(fragment.selectionSet, typeNamed(fragment.typeCondition.name.value), page)
      : nothing;
    spread.set(key, size);
    return size;
  }

  function typeNamed(name: string | undefined): GraphQLNamedType | null {
    return (name !== undefined && schema.getType(name)) || null;
  }

  function pageLength(field: FieldNode): number {
    const lengths = (field.arguments ?? [])
      .filter(({ name }) => name.value === 'first' || name.value === 'last')
      .map(({ value }) => {
        if (value.kind === Kind.NULL) return DEFAULT_PAGE;
        if (value.kind === Kind.INT) return Number(value.value);
        if (value.kind !== Kind.VARIABLE || variables === null) return LARGEST_PAGE;
        const given = variables[value.name.value];
        const byDefault = defaults.get(value.name.value);
        if (given === undefined && byDefault?.kind === Kind.INT) return Number(byDefault.value);
        return given == null ? DEFAULT_PAGE : typeof given === 'number' ? given : LARGEST_PAGE;
      });
    // What is out of bounds is refused by who resolves it.
    return Math.min(LARGEST_PAGE, Math.max(1, ...(lengths.length > 0 ? lengths : [DEFAULT_PAGE])));
  }
}

/** What a field counts itself: 1 unless its `extensions.cost` says that it may be large whatever is selected of it. */
function ownCost(definition: { readonly extensions: Readonly<Record<string, unknown>> } | null): number {
  const cost = definition?.extensions.cost;
  return typeof cost === 'number' ? cost : 1;
}

function definitionOf(schema: GraphQLSchema, name: string, parent: GraphQLNamedType | null) {
  if (parent === schema.getQueryType()) {
    if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
    if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
  }
  return (isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : null) ?? null;
}

const introspected = new WeakMap<GraphQLSchema, ReadonlyMap<string, number>>();

/** How long the lists of introspection are, on average: so a page that shows the whole schema costs what it is. */
function introspectedLengths(schema: GraphQLSchema): ReadonlyMap<string, number> {
  const known = introspected.get(schema);
  if (known) return known;
  const types = Object.values(schema.getTypeMap());
  const fields = types.flatMap((type) =>
    isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : [],
  );
  const sum = (counts: number[]) => counts.reduce((all, each) => all + each, 0);
  const lengths = new Map([
    ['__Schema.types', types.length],
    ['__Schema.directives', schema.getDirectives().length],
    ['__Type.fields', fields.length / types.length],
    ['__Field.args', sum(fields.map(({ args }) => args.length)) / fields.length],
    [
      '__Type.inputFields',
      sum(types.map((type) => (isInputObjectType(type) ? Object.keys(type.getFields()).length : 0))) / types.length,
    ],
    ['__Type.enumValues', sum(types.map((type) => (isEnumType(type) ? type.getValues().length : 0))) / types.length],
    [
      '__Type.possibleTypes',
      sum(types.map((type) => (isAbstractType(type) ? schema.getPossibleTypes(type).length : 0))) / types.length,
    ],
    [
      '__Type.interfaces',
      sum(types.map((type) => (isObjectType(type) ? type.getInterfaces().length : 0))) / types.length,
    ],
  ]);
  introspected.set(schema, lengths);
  return lengths;
}
