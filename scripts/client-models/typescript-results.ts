import {
  type FieldNode,
  type GraphQLOutputType,
  type GraphQLSchema,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  parse,
  type SelectionNode,
} from 'graphql';
import { comment } from './typescript.ts';

/** The types of scalars; other scalars are sent as texts. */
const SCALARS: Readonly<Record<string, string>> = {
  Boolean: 'boolean',
  Centimes: 'number',
  DraftContent: 'Readonly<Record<string, unknown>>',
  Int: 'number',
};

/**
 * Returns a module with a type for each selection, which has the fields that it names as the schema describes them.
 * @param selections by the name of their type: `Draft: 'Draft { id version }'`
 * @param models the names of types that another module has: an enumeration of these is taken from there
 * @throws Error if the schema has no such type or field
 */
export function typescriptResults(
  schema: GraphQLSchema,
  selections: Readonly<Record<string, string>>,
  models: ReadonlySet<string>,
): string {
  const imported = new Set<string>();

  function membersOf(typeName: string, selected: readonly SelectionNode[], indent: string): string {
    const type = schema.getType(typeName);
    if (!isObjectType(type)) throw new Error(`the schema has no type ${typeName}`);
    const members = selected.map((node) => {
      const { name, selectionSet } = node as FieldNode;
      const field = type.getFields()[name.value];
      if (!field) throw new Error(`${typeName} has no field ${name.value}`);
      const value = typeOf(field.type, selectionSet?.selections ?? [], indent);
      return `${comment(field.description ?? undefined, indent)}${indent}readonly ${name.value}: ${value};\n`;
    });
    return `{\n${members.join('')}${indent.slice(2)}}`;
  }

  function typeOf(type: GraphQLOutputType, selected: readonly SelectionNode[], indent: string): string {
    if (!isNonNullType(type)) return `${present(type, selected, indent)} | null`;
    return present(type.ofType, selected, indent);
  }

  function present(type: GraphQLOutputType, selected: readonly SelectionNode[], indent: string): string {
    if (isListType(type)) return `readonly ${typeOf(type.ofType, selected, indent)}[]`;
    const { name } = type as { readonly name: string };
    if (isObjectType(type)) return membersOf(name, selected, `${indent}  `);
    if (!isEnumType(type) || !models.has(name)) return SCALARS[name] ?? 'string';
    imported.add(name);
    return name;
  }

  const types = Object.entries(selections).map(([name, selection]) => {
    const [definition] = parse(`fragment ${name} on ${selection}`).definitions;
    if (definition?.kind !== Kind.FRAGMENT_DEFINITION) throw new Error(`${selection} is no selection`);
    const { typeCondition, selectionSet } = definition;
    const typeName = typeCondition.name.value;
    const description = name === typeName ? schema.getType(typeName)?.description : null;
    const said = comment(description ?? `What is read of GraphQL's \`${typeName}\`.`, '');
    return `${said}export interface ${name} ${membersOf(typeName, selectionSet.selections, '  ')}\n`;
  });
  const imports =
    imported.size === 0 ? '' : `import type { ${[...imported].sort().join(', ')} } from './models.ts';\n\n`;
  const made =
    '// Made from schema.graphql and selections.ts by `npm run build`. Amounts are integers in centimes.\n\n';
  return `${made}${imports}${types.join('\n')}`;
}
