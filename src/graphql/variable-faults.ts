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

/** A value that does not match its type: its path below the variable, and a sentence about it. */
interface Fault {
  readonly path: readonly string[];
  readonly message: string;
}

/**
 * The errors of the values that do not match the types of an operation's variables: what graphql-js would report, in its
 * order. Each of its own messages quotes the whole value, or the object around it, which takes seconds for a large one.
 * `extensions.param` is the path from the argument that contains the variable, and below the argument `input`.
 * @param most the maximum number of errors: the values behind them are not examined
 */
export function variableErrors(
  schema: GraphQLSchema,
  document: DocumentNode,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Variables,
  most: number,
): GraphQLError[] {
  const errors: GraphQLError[] = [];
  for (const definition of variableDefinitions) {
    const name = definition.variable.name.value;
    const given = Object.hasOwn(variables, name);
    if (!given && definition.defaultValue) continue;
    let place: readonly string[] | null = null;
    for (const { path, message } of faults(given ? variables[name] : undefined, typeOf(schema, definition), [])) {
      const where = path.length > 0 ? ` at "${paramOf([name, ...path])}"` : '';
      const error = new GraphQLError(`Variable "$${name}" got ${given ? 'invalid' : 'no'} value${where}; ${message}`, {
        nodes: definition,
      });
      place ??= placeOf(document, definition);
      if (place.length + path.length > 0) error.extensions.param = paramOf([...place, ...path]);
      if (errors.push(error) === most) return errors;
    }
  }
  return errors;
}

/** The path of the place where a variable is used first. */
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

function* faults(value: unknown, type: GraphQLInputType, path: readonly string[]): Generator<Fault, undefined> {
  if (isNonNullType(type)) {
    if (value == null) yield { path, message: `Expected non-nullable type "${type}" not to be null.` };
    else yield* faults(value, type.ofType, path);
  } else if (value == null) {
    return;
  } else if (isListType(type)) {
    if (!Array.isArray(value)) yield* faults(value, type.ofType, path);
    else for (const [index, item] of value.entries()) yield* faults(item, type.ofType, [...path, String(index)]);
  } else if (!isInputObjectType(type)) {
    const message = refusalOf(value, type);
    if (message !== null) yield { path, message };
  } else if (typeof value !== 'object' || Array.isArray(value)) {
    yield { path, message: `Expected type "${type}" to be an object.` };
  } else {
    const fields = type.getFields();
    for (const field of Object.values(fields)) {
      const member = (value as Variables)[field.name];
      if (member !== undefined) yield* faults(member, field.type, [...path, field.name]);
      else if (isRequiredInputField(field))
        yield { path: [...path, field.name], message: `A value of the type "${field.type}" is required.` };
    }
    for (const name of Object.keys(value)) {
      if (!Object.hasOwn(fields, name)) yield { path: [...path, name], message: `Type "${type}" has no such field.` };
    }
  }
}

/** Why a scalar or an enum refuses a value; null if it does not. A text may be quoted, but no object of any size. */
function refusalOf(value: unknown, type: GraphQLLeafType): string | null {
  const refused = `Expected type "${type}".`;
  if (typeof value === 'object' && (isEnumType(type) || isSpecifiedScalarType(type))) return refused;
  try {
    return type.parseValue(value) === undefined ? refused : null;
  } catch (error) {
    return (error as Error).message;
  }
}
