import {
  BREAK,
  type DocumentNode,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLLeafType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  isSpecifiedScalarType,
  Kind,
  type OperationDefinitionNode,
  typeFromAST,
  type VariableDefinitionNode,
  visit,
} from 'graphql';
import { paramOf } from '../domain/input-problems.ts';

type Variables = Readonly<Record<string, unknown>>;

/** A value that does not match its type: its path within the variable, and a sentence about the fault. */
interface Fault {
  readonly path: readonly string[];
  readonly message: string;
}

/**
 * Returns the errors of the values that do not match the types of an operation's variables: those that graphql-js would
 * report, in its order. graphql-js is not used, because its messages quote the whole value or the object around it,
 * which takes seconds for a large one.
 * `extensions.param` is the path from the argument that contains the variable, or within the argument `input`.
 * The length of a list is counted before any item is read, because each item costs the work of its whole type, however
 * small it is in the request.
 * @param most `errors`: after this number of faults the remaining values are not examined; `listItems`: maximum in all
 * lists of the variables
 */
export function variableErrors(
  schema: GraphQLSchema,
  document: DocumentNode,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Variables,
  most: { readonly errors: number; readonly listItems: number },
): GraphQLError[] {
  const errors: GraphQLError[] = [];
  const items = { left: most.listItems };
  for (const definition of variableDefinitions) {
    const name = definition.variable.name.value;
    const given = Object.hasOwn(variables, name);
    if (!given && definition.defaultValue) continue;
    let place: readonly string[] | null = null;
    for (const { path, message } of faults(
      given ? variables[name] : undefined,
      typeOf(schema, definition),
      [],
      items,
    )) {
      const where = path.length > 0 ? ` at "${paramOf([name, ...path])}"` : '';
      const error = new GraphQLError(`Variable "$${name}" got ${given ? 'invalid' : 'no'} value${where}; ${message}`, {
        nodes: definition,
      });
      place ??= placeOf(document, definition);
      if (place.length + path.length > 0) error.extensions.param = paramOf([...place, ...path]);
      if (errors.push(error) === most.errors || items.left < 0) return errors;
    }
  }
  return errors;
}

/** Returns the variables that the operation declares. */
export function declaredVariables(
  operation: OperationDefinitionNode | null | undefined,
  variables: Variables,
): Record<string, unknown> {
  const names = operation?.variableDefinitions?.map(({ variable }) => variable.name.value) ?? [];
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(variables, name)).map((name) => [name, variables[name]]),
  );
}

/** Returns the path of the place where a variable is used first. */
function placeOf(document: DocumentNode, { variable }: VariableDefinitionNode): string[] {
  let place: string[] | null = null;
  visit(document, {
    VariableDefinition: () => false,
    Directive: () => false,
    Variable({ name }, _key, parent, keys, ancestors) {
      if (name.value !== variable.name.value) return undefined;
      place = [...ancestors, parent ?? []].flatMap((each, depth) => {
        if (!('kind' in each)) return [];
        if (each.kind === Kind.ARGUMENT) return each.name.value === 'input' ? [] : [each.name.value];
        if (each.kind === Kind.OBJECT_FIELD) return [each.name.value];
        return each.kind === Kind.LIST ? [String(keys[depth + 1])] : [];
      });
      return BREAK;
    },
  });
  return place ?? [];
}

function typeOf(schema: GraphQLSchema, { type }: VariableDefinitionNode): GraphQLInputType {
  return typeFromAST(schema, type) as GraphQLInputType;
}

/** Finds the faults of a value. @param items how many items of lists are still allowed; below 0 nothing more is read */
function* faults(
  value: unknown,
  type: GraphQLInputType,
  path: readonly string[],
  items: { left: number },
): Generator<Fault, undefined> {
  if (isNonNullType(type)) {
    if (value == null) yield { path, message: `Expected non-nullable type "${type}" not to be null.` };
    else yield* faults(value, type.ofType, path, items);
  } else if (value == null) {
    return;
  } else if (isListType(type)) {
    if (!Array.isArray(value)) return yield* faults(value, type.ofType, path, items);
    items.left -= value.length;
    if (items.left < 0) yield { path, message: 'The lists of the variables have too many items in all.' };
    else for (const [index, item] of value.entries()) yield* faults(item, type.ofType, [...path, String(index)], items);
  } else if (!isInputObjectType(type)) {
    const message = refusalOf(value, type);
    if (message !== null) yield { path, message };
  } else if (typeof value !== 'object' || Array.isArray(value)) {
    yield { path, message: `Expected type "${type}" to be an object.` };
  } else {
    const fields = type.getFields();
    for (const field of Object.values(fields)) {
      const member = (value as Variables)[field.name];
      if (member !== undefined) yield* faults(member, field.type, [...path, field.name], items);
      else if (isRequiredInputField(field))
        yield { path: [...path, field.name], message: `A value of the type "${field.type}" is required.` };
    }
    for (const name of Object.keys(value)) {
      if (!Object.hasOwn(fields, name)) yield { path: [...path, name], message: `Type "${type}" has no such field.` };
    }
  }
}

/** Length in characters above which a text cannot be the name of an enum value. */
const LONGEST_NAME = 100;

/**
 * Returns why a scalar or an enum refuses a value; null if it accepts it. The reason may quote a text, but never an
 * object.
 */
function refusalOf(value: unknown, type: GraphQLLeafType): string | null {
  const refused = `Expected type "${type}".`;
  if (typeof value === 'object' && (isEnumType(type) || isSpecifiedScalarType(type))) return refused;
  // graphql-js would compare the text with each name to suggest one.
  if (isEnumType(type) && typeof value === 'string' && value.length > LONGEST_NAME) return refused;
  try {
    return type.parseValue(value) === undefined ? refused : null;
  } catch (error) {
    return (error as Error).message;
  }
}
