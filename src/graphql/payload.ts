import type { ObjectRef } from '@pothos/core';
import { builder } from './builder.ts';

type Types = typeof builder extends PothosSchemaTypes.SchemaBuilder<infer Each> ? Each : never;

/**
 * What a mutation answers when it has done its work, as long as that is one object: `RevokeApiKeyPayload { apiKey }`.
 * @param mutation its name
 * @param field the name of the object in the answer
 */
export function payloadOf<Shape>(
  mutation: string,
  field: string,
  type: ObjectRef<Types, Shape>,
  description: string,
): ObjectRef<Types, Shape> {
  const name = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Payload`;
  return builder.objectRef<Shape>(name).implement({
    description: `What \`${mutation}\` has done.`,
    fields: (t) => ({ [field]: t.field({ type, description, resolve: (object) => object as never }) }),
  });
}
