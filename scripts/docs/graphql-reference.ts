import { buildSchema, type GraphQLField, type GraphQLObjectType, getNamedType, isInputObjectType } from 'graphql';
import { cell } from './cell.ts';

/** The pages by their slug: the root type of the fields, their name, and the way to request them. */
const KINDS = {
  queries: 'Reads. Each asks `/graphql` for what it names; lists are Relay connections.',
  mutations:
    'Writes. Each returns its payload or a typed error: select `... on Error { code message param }` ([errors](/docs/graphql.md#errors)).',
  subscriptions: 'Live results, over `/graphql/stream` or `/graphql` ([live pages](/docs/live-pages.md)).',
} as const;

/**
 * Writes a page for each kind of operation of the schema, with the arguments of each and the fields of its inputs.
 * @param schema schema.graphql
 * @returns Markdown by slug
 */
export function graphqlPages(schema: string): Record<string, string> {
  const built = buildSchema(schema);
  const roots = {
    queries: built.getQueryType(),
    mutations: built.getMutationType(),
    subscriptions: built.getSubscriptionType(),
  };
  return Object.fromEntries(
    (Object.keys(KINDS) as (keyof typeof KINDS)[]).map((kind) => [
      `reference/graphql-${kind}`,
      pageOf(kind, roots[kind]),
    ]),
  );
}

function pageOf(kind: keyof typeof KINDS, root: GraphQLObjectType | null | undefined): string {
  const fields = Object.values(root?.getFields() ?? {}).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const operations = fields.map(operationText).join('\n');
  return `# GraphQL: ${kind}\n\n${KINDS[kind]} GraphiQL at [/graphql](/graphql) completes and explains the fields of their answers.\n\n${operations}`;
}

function operationText({ name, description, args, type, deprecationReason }: GraphQLField<unknown, unknown>): string {
  const rows = args.flatMap((argument) => {
    const named = getNamedType(argument.type);
    const fields = isInputObjectType(named) ? Object.values(named.getFields()) : [];
    const row = (path: string, of: { type: unknown; description?: string | null | undefined }) =>
      `| \`${path}\` | \`${String(of.type)}\` | ${cell(of.description ?? '')} |`;
    return [row(argument.name, argument), ...fields.map((field) => row(`${argument.name}.${field.name}`, field))];
  });
  return [
    `## ${name}\n`,
    description ? `${description.trim()}\n` : '',
    deprecationReason ? `Deprecated: ${deprecationReason}\n` : '',
    rows.length > 0 ? `| argument | type | |\n|---|---|---|\n${rows.join('\n')}\n` : '',
    `Returns \`${String(type)}\`.\n`,
  ]
    .filter((part) => part !== '')
    .join('\n');
}
