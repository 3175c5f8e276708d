import { builder } from './builder.ts';

/** An enum whose values have the domain's names, which are REST's too. @param meanings a description of each value */
export function enumOf<Value extends string>(
  name: string,
  description: string,
  meanings: Readonly<Record<Value, string>>,
) {
  const values = Object.entries<string>(meanings).map(([value, meaning]) => [value, { value, description: meaning }]);
  return builder.enumType(name, {
    description,
    values: Object.fromEntries(values) as Record<Value, { value: Value; description: string }>,
  });
}
