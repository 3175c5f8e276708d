import { builder } from './builder.ts';

/**
 * Makes an enum of the names in a table. The names are those of the domain and of REST, with `_` for the dot.
 * @param rows the description of each value, or a row that contains it
 */
export function enumOf<Value extends string>(
  name: string,
  description: string,
  rows: Readonly<Record<Value, string | { readonly description: string }>>,
) {
  const values = Object.entries<string | { readonly description: string }>(rows).map(([value, row]) => [
    value.replaceAll('.', '_'),
    { value, description: typeof row === 'string' ? row : row.description },
  ]);
  return builder.enumType(name, {
    description,
    values: Object.fromEntries(values) as Record<Value, { value: Value; description: string }>,
  });
}
