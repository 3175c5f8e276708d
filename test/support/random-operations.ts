import fc, { type GeneratorValue } from 'fast-check';
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  parse,
  validate,
} from 'graphql';

/** A query as a client sends it. */
export interface RandomQuery {
  readonly query: string;
  readonly variables: Record<string, unknown>;
  readonly operationName?: string;
}

/** The parts of random queries. */
export interface RandomParts {
  /**
   * Returns values for an argument or input field of type ID or String, such as `invoice.id` or
   * `WebhookResendSelection.endpointId`.
   */
  readonly texts: (path: string) => readonly string[];
  /** Names of root fields that are left out. */
  readonly without?: readonly string[];
  /** Maximum number of levels of fields. */
  readonly depth?: number;
}

/**
 * Makes random queries that are valid against the schema: any field, aliases, fragments (inline and named, also on
 * interfaces), variables with and without defaults, `@skip` and `@include`, repeated fields. Most of their variables
 * have the right type.
 */
export function randomQueries(schema: GraphQLSchema, parts: RandomParts): fc.Arbitrary<RandomQuery> {
  return fc.gen().map((pick) => {
    // A loop and no filter: a filter would get the same choices again.
    for (;;) {
      const random = write(schema, parts, pick);
      if (validate(schema, parse(random.query)).length === 0) return random;
    }
  });
}

/** Small numbers are not preferred. */
const evenly = (max: number) => fc.noBias(fc.nat({ max }));

function write(schema: GraphQLSchema, parts: RandomParts, pick: GeneratorValue): RandomQuery {
  const declared: string[] = [];
  const variables: Record<string, unknown> = {};
  const fragments: string[] = [];
  let aliases = 0;
  /** Number of fields that may still be written before only leaves are allowed. */
  let left = 60;
  const chance = (percent: number) => pick(evenly, 99) < percent;
  const one = <Item>(items: readonly Item[]) => items[pick(evenly, items.length - 1)] as Item;
  // Most clients send correct values.
  const careless = chance(15);
  const conditional = chance(25);
  const below = parts.depth ?? 6;

  const queryType = schema.getQueryType();
  if (!queryType) throw new Error('the schema has no queries');
  const body = selections(queryType, below, true);
  const name = chance(30) ? 'Named' : '';
  const head = declared.length > 0 ? `query ${name}(${declared.join(', ')})` : `query ${name}`;
  const other = name !== '' && chance(30) ? 'query Other { __typename }' : '';
  return {
    query: [`${head} ${body}`, other, ...fragments].filter((part) => part !== '').join('\n'),
    variables,
    ...(name !== '' && (other !== '' || chance(50)) && { operationName: name }),
  };

  function selections(type: GraphQLNamedType, depth: number, root = false): string {
    const chosen: string[] = [];
    const fields = isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : [];
    const open = fields.filter(
      (field) =>
        // Applies also to fragments on the root.
        !(type === queryType && parts.without?.includes(field.name)) &&
        ((depth > 1 && left > 0) || !isCompositeType(getNamedType(field.type))),
    );
    const count = root ? 1 + pick(evenly, 1) : 1 + pick(evenly, 5);
    for (let i = 0; i < count && open.length > 0; i++) chosen.push(fieldOf(one(open), depth));
    if (chosen.length === 0 || chance(20)) chosen.push('__typename');
    if (isAbstractType(type) || (left > 0 && chance(15))) chosen.push(fragmentOn(type, depth));
    return `{ ${chosen.join(' ')} }`;
  }

  function fragmentOn(type: GraphQLNamedType, depth: number): string {
    const on = isAbstractType(type) ? one([...schema.getPossibleTypes(type)]) : type;
    const inside = selections(on, depth - 1);
    if (chance(50)) return `... ${chance(70) || on !== type ? `on ${on.name} ` : ''}${directive()}${inside}`;
    const name = `F${fragments.length}`;
    fragments.push('');
    fragments[Number(name.slice(1))] = `fragment ${name} on ${on.name} ${inside}`;
    return `...${name} ${directive()}${chance(20) ? `...${name}` : ''}`;
  }

  function fieldOf(field: GraphQLField<unknown, unknown>, depth: number): string {
    left--;
    const type = getNamedType(field.type);
    const given = field.args
      .filter((each) => isNonNullType(each.type) || chance(20))
      .map((each) => argument(field.name, each));
    // Two fields of the same name with different arguments cannot be merged.
    const alias = given.length > 0 || chance(20) ? `a${aliases++}: ` : '';
    const args = given.length > 0 ? `(${given.join(', ')})` : '';
    const inside = isCompositeType(type) ? ` ${selections(type, depth - 1)}` : '';
    return `${alias}${field.name}${args} ${directive()}${inside}`;
  }

  function directive(): string {
    if (!conditional || !chance(30)) return '';
    const condition = chance(50) ? String(chance(50)) : variable('Boolean!', chance(50));
    return `@${one(['skip', 'include'])}(if: ${condition}) `;
  }

  function argument(field: string, { name, type }: GraphQLArgument): string {
    const value = sample(type, `${field}.${name}`);
    return `${name}: ${chance(50) ? variable(String(type), value) : literal(type, value)}`;
  }

  function variable(type: string, value: unknown): string {
    const name = `v${declared.length}`;
    if (careless && chance(20)) variables[name] = one<unknown>([null, 1.5, 'x', [], {}, true]);
    else if (!careless || !chance(20)) variables[name] = value;
    declared.push(`$${name}: ${type}`);
    return `$${name}`;
  }

  function sample(type: GraphQLInputType, path: string): unknown {
    if (!isNonNullType(type) && chance(10)) return null;
    const bare = getNullableType(type);
    if (isListType(bare)) return Array.from({ length: pick(evenly, 2) }, () => sample(bare.ofType, path));
    if (isEnumType(bare)) return one(bare.getValues()).name;
    if (isInputObjectType(bare)) {
      const fields = Object.values(bare.getFields()).filter((each) => isNonNullType(each.type) || chance(50));
      return Object.fromEntries(fields.map((each) => [each.name, sample(each.type, `${bare.name}.${each.name}`)]));
    }
    const { name } = getNamedType(bare);
    if (name === 'Int' || name === 'Centimes') return one(careless ? [0, -1, 101, 1.5] : [1, 2, 3, 20, 100]);
    if (name === 'Float') return one([0, 1.5, 3]);
    if (name === 'Boolean') return chance(50);
    if (name === 'DateTime') return one(['2026-01-31T12:00:00Z', '2099-01-01T00:00:00Z', '2026-11-21T10:00:00+01:00']);
    return one(parts.texts(path));
  }

  function literal(type: GraphQLInputType, value: unknown): string {
    const bare = getNullableType(type);
    if (value === null) return 'null';
    if (isListType(bare)) return `[${(value as unknown[]).map((each) => literal(bare.ofType, each)).join(', ')}]`;
    if (isEnumType(bare)) return String(value);
    if (isInputObjectType(bare)) {
      const fields = Object.entries(value as Record<string, unknown>).map(
        ([name, each]) => `${name}: ${literal(bare.getFields()[name]?.type as GraphQLInputType, each)}`,
      );
      return `{ ${fields.join(', ')} }`;
    }
    return JSON.stringify(value);
  }
}
