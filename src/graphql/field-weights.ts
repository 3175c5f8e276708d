import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
} from 'graphql';
import { LIMITS as INPUT } from '../domain/invoice/field-input.ts';
import { PAGE_SIZE } from '../domain/limits.ts';

/** The weight that a field states in its `extensions`; the gate reads it. */
export interface FieldWeight {
  /** Maximum number of items. Every list without pages must state it. */
  readonly most?: number;
  /** Maximum size in bytes of JSON, for a text that may exceed the usual maximum. */
  readonly bytes?: number;
  /** Number of bytes that the field reads from the store; for a connection, per row. */
  readonly reads?: number;
}

/** Usual maximum length of a text in characters, and maximum size of a character in UTF-8 bytes. */
const [TEXT, BYTES_A_CHARACTER] = [500, 3];
/** Maximum size of a scalar's value, in bytes of JSON. */
const SCALARS: Readonly<Record<string, number>> = {
  Boolean: 5,
  Int: 11,
  Float: 25,
  ID: 64,
  DateTime: 26,
  Centimes: 17,
  SafeInt: 17,
  String: TEXT * BYTES_A_CHARACTER,
  Metadata: INPUT.metadataKeys * (INPUT.metadataKey + INPUT.metadataValue) * BYTES_A_CHARACTER,
};
/** Size of the longest enum value, in bytes. */
const ENUM_BYTES = 40;

export function weightOf(field: Pick<GraphQLField<unknown, unknown>, 'extensions'>): FieldWeight {
  return field.extensions as FieldWeight;
}

/** Returns the maximum size of a leaf field's value, in bytes of JSON; 0 for other fields. */
export function leafBytes(field: GraphQLField<unknown, unknown>): number {
  const type = getNamedType(field.type);
  if (!isLeafType(type)) return 0;
  return weightOf(field).bytes ?? (isEnumType(type) ? ENUM_BYTES : (SCALARS[type.name] ?? TEXT * BYTES_A_CHARACTER));
}

/** Whether a field returns a page. The lists below it are then as long as its `first` or `last` says. */
export function isPaged(field: Pick<GraphQLField<unknown, unknown>, 'args'>): boolean {
  return field.args.some(({ name }) => name === 'first' || name === 'last');
}

export function isList(field: Pick<GraphQLField<unknown, unknown>, 'type'>): boolean {
  return isListType(getNullableType(field.type));
}

/**
 * Returns the maximum number of items of a list field. The lists of introspection state none and count as a page.
 * @param page length of the page that the list belongs to; null outside of a page
 */
export function listLength(field: GraphQLField<unknown, unknown>, page: number | null): number {
  return page ?? weightOf(field).most ?? PAGE_SIZE.most;
}

/**
 * Returns the lists of the schema that state no maximum length, as `Type.field`. There must be none, otherwise the cost
 * of a request would be underestimated. The rows of connections are counted by the page.
 */
export function unboundedLists(schema: GraphQLSchema): string[] {
  const types = Object.values(schema.getTypeMap()).filter(
    (type) => (isObjectType(type) || isInterfaceType(type)) && !type.name.startsWith('__'),
  );
  const paged = new Set(fieldsOf(types).flatMap(({ field }) => (isPaged(field) ? [getNamedType(field.type)] : [])));
  return fieldsOf(types)
    .filter(({ type, field }) => isList(field) && !paged.has(type))
    .filter(({ field }) => !Number.isInteger(weightOf(field).most))
    .map(({ type, field }) => `${type.name}.${field.name}`);
}

function fieldsOf(types: readonly GraphQLNamedType[]) {
  return types.flatMap((type) =>
    isObjectType(type) || isInterfaceType(type)
      ? Object.values(type.getFields()).map((field) => ({ type, field }))
      : [],
  );
}
