import {
  capitalized,
  isNullable,
  nameOf,
  requestSchemas,
  type Schema,
  type Schemas,
  sorted,
  wordsOf,
  wrapped,
} from './schema.ts';

const WIDTH = 116;
const HEAD = `// Made from openapi.json by \`npm run build\`.
package fatoura;

import com.google.gson.annotations.SerializedName;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The objects of the API. What is absent or null is null. Amounts are integers in centimes. */
public final class Models {
  private Models() {}
`;

interface Component {
  readonly name: string;
  /** Of a member that is always there. */
  readonly plain: string;
  /** The same, or one that may be null. */
  readonly type: string;
  readonly annotation: string;
  readonly isRequired: boolean;
  /** Whether a change may remove it. */
  readonly isRemovable: boolean;
  readonly description: string | undefined;
}

/** Returns a class with a record for each object, and the values of each list, in the order of their names. */
export function javaModels(schemas: Schemas): string {
  const requests = requestSchemas(schemas);
  const types = sorted(schemas).flatMap(([name, schema]) => {
    if (schema.properties) return [record(name, schema, schemas, requests.has(name))];
    const values = schema.enum ?? schema['x-extensible-enum'] ?? [];
    return values.every((value) => typeof value === 'string') && values.length > 0 ? [constants(name, schema)] : [];
  });
  return `${HEAD}${types.map((type) => `\n${type}`).join('')}}\n`;
}

/** A newer service may have more values, so they are texts. */
function constants(name: string, { description, ...schema }: Schema): string {
  const values = (schema.enum ?? schema['x-extensible-enum'] ?? []) as string[];
  const fields = values.map(
    (value) => `    public static final String ${wordsOf(value).join('_').toUpperCase()} = "${value}";\n`,
  );
  const doc = comment(description === undefined ? [] : [description], '  ');
  return `${doc}  public static final class ${name} {\n${fields.join('')}\n    private ${name}() {}\n  }\n`;
}

function record(name: string, schema: Schema, schemas: Schemas, isRequest: boolean): string {
  const components = Object.entries(schema.properties ?? {}).map(([member, each]): Component => {
    const isRequired = schema.required?.includes(member) ?? false;
    const isRemovable = isRequest && name.startsWith('Update') && isNullable(each);
    const plain = member.endsWith('secret') ? 'Secret' : typeOf(each, schemas);
    const camel = camelCase(member);
    return {
      name: camel,
      plain,
      type: isRemovable ? `Optional<${plain}>` : isRequired && !isNullable(each) ? plain : boxed(plain),
      annotation: camel === member ? '' : `@SerializedName("${member}") `,
      isRequired,
      isRemovable,
      description: each.description,
    };
  });
  const params = components.flatMap((each) => (each.description ? [`@param ${each.name} ${each.description}`] : []));
  const doc = comment([...(schema.description ? [schema.description] : []), ...params], '  ');
  const declared = components.map(({ annotation, type, name }) => `      ${annotation}${type} ${name}`).join(',\n');
  const methods = isRequest
    ? [factory(name, components), ...components.flatMap((each) => withers(name, components, each))]
    : [];
  const body = methods.length === 0 ? '{}' : `{\n${methods.join('\n')}  }`;
  return `${doc}  public record ${name}(\n${declared}) ${body}\n`;
}

/** Writes the factory of a request, with its required members. */
function factory(name: string, components: readonly Component[]): string {
  const required = components.filter(({ isRequired }) => isRequired);
  const given = required.map((each) => `${each.plain} ${each.name}`).join(', ');
  const values = components.map((each) => (each.isRequired ? each.name : 'null')).join(', ');
  const doc = '    /** What it must have. The methods below add the rest. */\n';
  return `${doc}    public static ${name} of(${given}) {\n      return new ${name}(${values});\n    }\n`;
}

/** Writes the methods that return the request with a member, or without a member that a change may remove. */
function withers(record: string, components: readonly Component[], { name, ...component }: Component): string[] {
  if (component.isRequired) return [];
  const method = (verb: string, parameter: string, value: string) => {
    const values = components.map((each) => (each.name === name ? value : each.name)).join(', ');
    const head = `    public ${record} ${verb}${capitalized(name)}(${parameter}) {\n`;
    return `${head}      return new ${record}(${values});\n    }\n`;
  };
  const parameter = `${component.plain} ${name}`;
  if (!component.isRemovable) return [method('with', parameter, name)];
  return [method('with', parameter, `Optional.of(${name})`), method('without', '', 'Optional.empty()')];
}

function typeOf(schema: Schema, schemas: Schemas): string {
  const { $ref, items, additionalProperties } = schema;
  if ($ref) {
    const name = nameOf($ref);
    if (name === 'Timestamp') return 'Instant';
    return schemas[name]?.properties ? name : typeOf(schemas[name] ?? {}, schemas);
  }
  const types = [schema.type ?? 'string'].flat();
  if (types.includes('integer')) return 'long';
  if (types.includes('boolean')) return 'boolean';
  if (types.includes('array')) return `List<${items ? boxed(typeOf(items, schemas)) : 'Object'}>`;
  if (!types.includes('object')) return 'String';
  return `Map<String, ${typeof additionalProperties === 'object' ? boxed(typeOf(additionalProperties, schemas)) : 'Object'}>`;
}

function boxed(type: string): string {
  return type === 'long' ? 'Long' : type === 'boolean' ? 'Boolean' : type;
}

/** `xml_url` → `xmlUrl`. */
function camelCase(name: string): string {
  const [first = '', ...others] = wordsOf(name);
  return [first, ...others.map(capitalized)].join('');
}

/** Writes a comment with the paragraphs. */
function comment(paragraphs: readonly string[], indent: string): string {
  if (paragraphs.length === 0) return '';
  const lines = paragraphs.flatMap((each) =>
    htmlOf(each)
      .split('\n')
      .flatMap((line) => wrapped(line, WIDTH - indent.length)),
  );
  if (lines.length === 1 && !lines[0]?.startsWith('@')) return `${indent}/** ${lines[0]} */\n`;
  return [`${indent}/**`, ...lines.map((line) => `${indent} *${line && ` ${line}`}`), `${indent} */\n`].join('\n');
}

/** Markdown as Javadoc has it. */
function htmlOf(markdown: string): string {
  const parts = markdown.split(/`([^`]*)`/);
  const text = parts.map((part, nth) =>
    nth % 2 === 1 ? `{@code ${part}}` : part.replaceAll('&', '&amp;').replaceAll('<', '&lt;'),
  );
  return text
    .join('')
    .replaceAll(/(?:^- .*(?:\n|$))+/gm, (list) => `<ul>\n${list.trimEnd().replaceAll(/^- /gm, '<li>')}\n</ul>`);
}
