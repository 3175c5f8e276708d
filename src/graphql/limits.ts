import {
  type ASTNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
} from 'graphql';
import { ANSWER_BYTES, READ_BYTES } from '../domain/answer-bounds.ts';
import { PAGE_SIZE } from '../domain/limits.ts';
import { isList, isPaged, leafBytes, listLength, weightOf } from './field-weights.ts';

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
  /** Fields of an answer if every list had its maximum length. This is enough for three nested long lists. */
  possibleFields: 1_000_000_000,
  /**
   * The limit of `possibleFields` for a mutation. Its answer cannot be refused after it has run, so the maximum must be
   * safe.
   */
  mutationFields: 150_000,
  mutationBytes: 8 * ANSWER_BYTES,
} as const;

/**
 * Maximum number of bytes that an operation may read and return without being large. Any number of small operations may
 * run at once.
 */
const SMALL_BYTES = READ_BYTES;

/** The estimated size of an operation. */
export interface Size {
  readonly root: number;
  readonly fields: number;
  readonly aliases: number;
  readonly depth: number;
  /** Maximum number of fields in its answer, with lists at their maximum length and pages at the requested one. */
  readonly possibleFields: number;
  /** Maximum number of bytes that it reads and returns. */
  readonly bytes: number;
}

/** Whether an operation may need much memory; only a few of these run at once. */
export function isLarge({ bytes }: Pick<Size, 'bytes'>): boolean {
  return bytes > SMALL_BYTES;
}

/**
 * Checks the limits of a document except its cost. Only the text is needed, so the document may be invalid.
 * @returns one error for each operation that exceeds a limit: the first limit that it exceeds
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

/**
 * Checks whether the answer of a valid operation may be too large with the page lengths of these variables. For queries
 * {@link LIMITS.answerFields} and {@link LIMITS.answerBytes} apply later, when the actual sizes are known.
 * @returns the error that refuses the operation, or null
 */
export function exceededCost(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): GraphQLError | null {
  const { possibleFields, bytes } = sizeOf(schema, document, operation, variables);
  const isMutation = operation.operation === OperationTypeNode.MUTATION;
  const most = isMutation ? LIMITS.mutationFields : LIMITS.possibleFields;
  if (possibleFields > most)
    return refusal(
      `${inWords(most)} fields in its answer, ${ASSUMING} ${inWords(possibleFields)}. ${ADVICE}`,
      operation,
    );
  if (isMutation && bytes > LIMITS.mutationBytes) {
    return refusal(
      `${inWords(LIMITS.mutationBytes)} bytes in its answer, ${ASSUMING} ${inWords(bytes)}. ${ADVICE}`,
      operation,
    );
  }
  return null;
}

const ASSUMING = 'with every list at its maximum length; this one may have';
const ADVICE = 'Request shorter pages, fewer fields or fewer aliases';

const inWords = (count: number) => Math.ceil(count).toLocaleString('en');

function refusal(most: string, nodes: ASTNode): GraphQLError {
  return new GraphQLError(`An operation may have at most ${most}.`, { nodes });
}

/**
 * Returns how many requests an operation counts for the rate limit: one for each root field of a mutation, otherwise 1.
 */
export function requestsOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode | null | undefined,
): number {
  if (operation?.operation !== OperationTypeNode.MUTATION) return 1;
  return Math.max(1, sizeOf(schema, document, operation, null).root);
}

/**
 * Estimates the size.
 * @param variables null if unknown: a page length given by a variable then counts as the maximum
 */
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
  return sizeOfSelections(operation.selectionSet, schema.getRootType(operation.operation) ?? null, null);

  /** @param page the length of the page that these fields belong to; the lists among them have that length */
  function sizeOfSelections(
    { selections }: SelectionSetNode,
    parent: GraphQLNamedType | null,
    page: number | null,
  ): Size {
    const sum = { root: 0, fields: 0, aliases: 0, depth: 0, possibleFields: 0, bytes: 0 };
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
      sum.possibleFields += part.possibleFields;
      sum.bytes += part.bytes;
    }
    return sum;
  }

  function sizeOfField(field: FieldNode, parent: GraphQLNamedType | null, page: number | null): Size {
    const definition = definitionOf(schema, field.name.value, parent);
    const aliases = field.alias ? 1 : 0;
    const length = definition && isList(definition) ? listLength(definition, page) : 1;
    /** Size of the name with quotation marks, colon and comma, in bytes. */
    const name = (field.alias ?? field.name).value.length + 4;
    const reads = definition ? (weightOf(definition).reads ?? 0) : 0;
    if (!field.selectionSet) {
      const bytes = name + (definition ? leafBytes(definition) * length : 0) + reads;
      return { root: 1, fields: 1, aliases, depth: 1, possibleFields: length, bytes };
    }
    const rows = definition && isPaged(definition) ? pageLength(field) : null;
    const below = sizeOfSelections(field.selectionSet, definition ? getNamedType(definition.type) : null, rows);
    return {
      root: 1,
      fields: 1 + below.fields,
      aliases: aliases + below.aliases,
      // graphql-js limits the depth of introspection.
      depth: field.name.value.startsWith('__') ? 1 : 1 + below.depth,
      possibleFields: 1 + below.possibleFields * length,
      bytes: name + below.bytes * length + reads * (rows ?? length),
    };
  }

  function sizeOfSpread(name: string, page: number | null): Size {
    const key = `${name} ${page}`;
    const known = spread.get(key);
    if (known) return known;
    const nothing = { root: 0, fields: 0, aliases: 0, depth: 0, possibleFields: 0, bytes: 0 };
    // A fragment that spreads itself counts as nothing here, because the validation rules refuse it.
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
      .filter(({ name }) => PAGE_ARGUMENTS.includes(name.value))
      .map(({ value }) => {
        if (value.kind === Kind.NULL) return null;
        if (value.kind === Kind.INT) return Number(value.value);
        if (value.kind !== Kind.VARIABLE || variables === null) return PAGE_SIZE.most;
        const given = variables[value.name.value];
        const byDefault = defaults.get(value.name.value);
        if (given === undefined && byDefault?.kind === Kind.INT) return Number(byDefault.value);
        return given == null ? null : typeof given === 'number' ? given : PAGE_SIZE.most;
      })
      // Documents that can page in both directions leave one of the two arguments unset.
      .filter((length) => length !== null);
    // The value is clamped, because the resolver refuses one out of range.
    return Math.min(PAGE_SIZE.most, Math.max(1, ...(lengths.length > 0 ? lengths : [PAGE_SIZE.default])));
  }
}

/** The arguments that state the length of a page. */
const PAGE_ARGUMENTS: readonly string[] = ['first', 'last'];

/** Returns the definition of a field by its name, including the root fields of introspection. */
export function definitionOf(schema: GraphQLSchema, name: string, parent: GraphQLNamedType | null) {
  if (parent === schema.getQueryType()) {
    if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
    if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
  }
  return (isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : null) ?? null;
}
