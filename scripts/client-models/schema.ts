/** The part of a JSON Schema that models are made of. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly 'x-extensible-enum'?: readonly unknown[];
  readonly description?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
}

/** The schemas of the document, by name. */
export type Schemas = Readonly<Record<string, Schema>>;

/** Returns the schemas in the order of their names. */
export function sorted(schemas: Schemas): [name: string, schema: Schema][] {
  return Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Returns the name that a reference ends with. */
export function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

/** Returns the types that a value may have; undefined: any. */
export function typesOf({ type }: Schema): readonly (string | undefined)[] {
  return type === undefined || typeof type === 'string' ? [type] : type;
}

/** Whether a value may be null. */
export function isNullable(schema: Schema): boolean {
  return typesOf(schema).includes('null');
}

/** Returns the names of the schemas of requests, including their parts. All other schemas are of answers. */
export function requestSchemas(schemas: Schemas): ReadonlySet<string> {
  const found = new Set<string>();
  const add = (name: string) => {
    if (found.has(name)) return;
    found.add(name);
    for (const member of Object.values(schemas[name]?.properties ?? {}))
      for (const reference of [member.$ref, member.items?.$ref]) if (reference) add(nameOf(reference));
  };
  for (const name of Object.keys(schemas)) if (/^(Create|Update)[A-Z]/.test(name)) add(name);
  return found;
}

/** Returns the named list of values that is the same as a list stated in place; null if there is none. */
export function namedValues(schema: Schema, schemas: Schemas): string | null {
  const values = JSON.stringify(schema['x-extensible-enum']);
  return sorted(schemas).find(([, each]) => each.enum && JSON.stringify(each.enum) === values)?.[0] ?? null;
}

/** Returns the words of a name: `InvoiceId`, `xml_url`, `invoice.signing`. */
export function wordsOf(name: string): string[] {
  return name.split(/[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])/);
}

export function capitalized(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

/** Splits a text into lines. */
export function wrapped(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}
