import { isInputObjectType, isInterfaceType, isObjectType } from 'graphql';
import { schema } from '../graphql/schema.ts';

/**
 * Collects the names of the API's inputs: of REST's parameters and fields, and of GraphQL's arguments and fields.
 * @param description the OpenAPI document
 */
export function namesOfInputs(description: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  collect(description, names);
  for (const type of Object.values(schema.getTypeMap())) {
    if (isInputObjectType(type)) for (const name of Object.keys(type.getFields())) names.add(name);
    if (isObjectType(type) || isInterfaceType(type))
      for (const { args } of Object.values(type.getFields())) for (const { name } of args) names.add(name);
  }
  return names;
}

function collect(part: unknown, names: Set<string>): void {
  if (typeof part !== 'object' || part === null) return;
  if ('in' in part && 'name' in part && typeof part.name === 'string') names.add(part.name);
  if ('properties' in part) for (const name of Object.keys(part.properties ?? {})) names.add(name);
  for (const each of Object.values(part)) collect(each, names);
}

/**
 * Replaces each name in a `param` that the API does not have by `*`. The client made such a name up, so it may be a
 * secret or personal data.
 * @param param short: the time grows with the square of its length
 */
export function withKnownNames(param: string, known: ReadonlySet<string>): string {
  const segments = param.split('.').map((segment) => {
    const [, name = '', indexes = ''] = /^(.*?)((?:\[\d{1,6}\])*)$/s.exec(segment) ?? [];
    return known.has(name) ? name + indexes : '*';
  });
  // A name that the client made up may contain dots.
  return segments.join('.').replace(/\*(\.\*)+/g, '*');
}
