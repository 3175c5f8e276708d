import {
  BREAK,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLInputType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  Kind,
  typeFromAST,
  type VariableDefinitionNode,
  visit,
} from 'graphql';
import { paramOf } from '../domain/input-problems.ts';

/**
 * Adds the path of the invalid value as `extensions.param` to every error about a variable's value: graphql-js states it
 * only in the message. The path begins at the argument that contains the variable, and below the argument `input`. Other
 * errors are unchanged.
 */
export function withParams<Result extends Pick<ExecutionResult, 'errors'>>(
  result: Result,
  { schema, document, variableValues }: Pick<ExecutionArgs, 'schema' | 'document' | 'variableValues'>,
): Result {
  const walks = new Map<VariableDefinitionNode, Iterator<string[]>>();
  for (const error of result.errors ?? []) {
    const variable = variableOf(error);
    if (!variable) continue;
    const walk =
      walks.get(variable) ??
      faults(variableValues?.[variable.variable.name.value], typeOf(schema, variable), placeOf(document, variable));
    walks.set(variable, walk);
    const path: string[] = walk.next().value ?? [];
    if (path.length > 0) error.extensions.param = paramOf(path);
  }
  return result;
}

function variableOf({ nodes }: GraphQLError): VariableDefinitionNode | null {
  const [node] = nodes ?? [];
  return node?.kind === Kind.VARIABLE_DEFINITION ? node : null;
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

function typeOf(schema: ExecutionArgs['schema'], { type }: VariableDefinitionNode): GraphQLInputType {
  return typeFromAST(schema, type) as GraphQLInputType;
}

/** The paths of the values that do not match a type, in the order in which graphql-js reports them. */
function* faults(value: unknown, type: GraphQLInputType, path: string[]): Generator<string[], undefined> {
  if (isNonNullType(type)) {
    if (value == null) yield path;
    else yield* faults(value, type.ofType, path);
  } else if (value == null) {
    return;
  } else if (isListType(type)) {
    if (!Array.isArray(value)) yield* faults(value, type.ofType, path);
    else for (const [index, item] of value.entries()) yield* faults(item, type.ofType, [...path, String(index)]);
  } else if (!isInputObjectType(type)) {
    if (!isParsed(() => type.parseValue(value))) yield path;
  } else if (typeof value !== 'object' || Array.isArray(value)) {
    yield path;
  } else {
    const fields = type.getFields();
    for (const field of Object.values(fields)) {
      const member = (value as Readonly<Record<string, unknown>>)[field.name];
      if (member !== undefined) yield* faults(member, field.type, [...path, field.name]);
      else if (isRequiredInputField(field)) yield [...path, field.name];
    }
    for (const name of Object.keys(value)) if (!Object.hasOwn(fields, name)) yield [...path, name];
  }
}

function isParsed(parse: () => unknown): boolean {
  try {
    return parse() !== undefined;
  } catch {
    return false;
  }
}
