import type { ObjectRef } from '@pothos/core';
import { builder } from './builder.ts';

/** The types of the schema's builder, for helpers that make types and fields. */
export type Types = typeof builder extends PothosSchemaTypes.SchemaBuilder<infer Each> ? Each : never;

/**
 * Makes the payload type of a mutation that returns one object: `RevokeApiKeyPayload { apiKey }`.
 * @param mutation the name of the mutation
 * @param field the name of the payload's only field
 */
export function payloadOf<Shape>(
  mutation: string,
  field: string,
  type: ObjectRef<Types, Shape>,
  description: string,
): ObjectRef<Types, Shape> {
  const name = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Payload`;
  return builder.objectRef<Shape>(name).implement({
    description: `The result of \`${mutation}\`.`,
    fields: (t) => ({ [field]: t.field({ type, description, resolve: (object) => object as never }) }),
  });
}
