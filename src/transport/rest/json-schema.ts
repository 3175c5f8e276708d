type Schema = Readonly<Record<string, unknown>>;

/** Keywords whose values are data. */
const DATA = new Set(['const', 'enum', 'example', 'examples', 'required', 'type']);
/** The largest integer that fits in 32 bits with a sign. */
const MAX_INT32 = 2 ** 31 - 1;

/**
 * A JSON Schema of zod's as the OpenAPI document shows it: the same values are valid, but for what `io` says, in the form that generators of
 * clients (openapi-generator 7, openapi-typescript 7) understand.
 * - `anyOf` of a type and null becomes `type: [T, 'null']`, which all of them read as nullable.
 * - A constant truth value is any: of a constant they make an enumeration, which Java's generator writes as one of texts.
 * - Integers beyond 32 bits are `int64`: Java, Go and C# have two types.
 * - What is sent (`input`) has no `default`: openapi-typescript takes a field with one for a field that is always there. Its
 *   description says what holds when it is left out.
 * - What is answered (`output`) may get further fields in time, so it is not closed to them.
 * - A reference to `$defs` is one to the document's components.
 */
export function forClients(value: unknown, io: 'input' | 'output'): unknown {
  if (Array.isArray(value)) return value.map((each) => forClients(each, io));
  if (typeof value !== 'object' || value === null) return value;
  const schema: Record<string, unknown> = {};
  for (const [keyword, content] of Object.entries(withoutNullAlternative(value as Schema))) {
    if (io === 'input' && keyword === 'default') continue;
    if (io === 'output' && keyword === 'additionalProperties' && content === false) continue;
    if (io === 'output' && keyword === 'propertyNames') continue;
    if (keyword === 'properties') schema[keyword] = mapped(content as Schema, io);
    else if (keyword === '$ref') schema[keyword] = String(content).replace('#/$defs/', '#/components/schemas/');
    else schema[keyword] = DATA.has(keyword) ? content : forClients(content, io);
  }
  if (schema.type === 'boolean') delete schema.const;
  if (schema.type === 'integer' && Number(schema.maximum) > MAX_INT32) schema.format = 'int64';
  return schema;
}

/** Fields by their names, which may be those of keywords. */
function mapped(properties: Schema, io: 'input' | 'output'): Schema {
  return Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, forClients(each, io)]));
}

function withoutNullAlternative(schema: Schema): Schema {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema;
  const [one, other] = anyOf as [Schema, Schema];
  if (other.type !== 'null' || typeof one.type !== 'string') return schema;
  return { ...one, ...rest, type: [one.type, 'null'] };
}
