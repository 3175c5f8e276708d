type Schema = Readonly<Record<string, unknown>>;

/** Keywords whose values are data and not schemas. */
const DATA = new Set(['const', 'enum', 'example', 'examples', 'required', 'type']);
/** The largest signed 32-bit integer. */
const MAX_INT32 = 2 ** 31 - 1;

/**
 * Converts a JSON Schema from zod for the OpenAPI document, into a form that client generators (openapi-generator 7,
 * openapi-typescript 7) understand. The same values stay valid, except for the differences by `io`.
 * - `anyOf` of a type and null becomes `type: [T, 'null']`, which all generators treat as nullable.
 * - In a request, `anyOf` of a reference and null becomes the reference, because generators have no common form for
 *   both; the service still accepts null.
 * - A constant boolean becomes a boolean: generators make an enum of a constant, the Java generator one of strings.
 * - Integers beyond 32 bits are `int64`, because Java, Go and C# have two types.
 * - A request (`input`) has no `default`, because openapi-typescript makes a field with a default required. The
 *   description of the field states the default.
 * - An answer (`output`) allows additional fields, because later versions may add some.
 * - References to `$defs` refer to the components of the document.
 */
export function forClients(value: unknown, io: 'input' | 'output'): unknown {
  if (Array.isArray(value)) return value.map((each) => forClients(each, io));
  if (typeof value !== 'object' || value === null) return value;
  const schema: Record<string, unknown> = {};
  for (const [keyword, content] of Object.entries(withoutNullAlternative(value as Schema, io))) {
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

/** Converts `properties`, whose names may be equal to keywords. */
function mapped(properties: Schema, io: 'input' | 'output'): Schema {
  return Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, forClients(each, io)]));
}

function withoutNullAlternative(schema: Schema, io: 'input' | 'output'): Schema {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema;
  const [one, other] = anyOf as [Schema, Schema];
  if (other.type === 'null' && typeof one.$ref === 'string' && io === 'input') return { ...rest, ...one };
  if (other.type !== 'null' || typeof one.type !== 'string') return schema;
  return { ...one, ...rest, type: [one.type, 'null'] };
}
