import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
} from 'graphql';
import { LIMITS as INPUT } from '../domain/invoice/field-input.ts';

/** What a field says of itself in its `extensions`, for the gate. */
export interface FieldWeight {
  /** Of a list without pages, and required of it: how many items it has at most. */
  readonly most?: number;
  /** Of a text that may be longer than most: bytes of JSON at most. */
  readonly bytes?: number;
  /** Bytes that are read from the store for it; of a connection, for each row. */
  readonly reads?: number;
}

/** The most that a page may hold. */
export const LARGEST_PAGE = 100;
/** Characters of most texts at most, and bytes that one of them takes in UTF-8. */
const [TEXT, BYTES_A_CHARACTER] = [500, 3];
/** Bytes of JSON that a value of a scalar takes at most. */
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
/** Of the longest name in an enum. */
const ENUM_BYTES = 40;

export function weightOf(field: Pick<GraphQLField<unknown, unknown>, 'extensions'>): FieldWeight {
  return field.extensions as FieldWeight;
}

/** Bytes of JSON that the value of a leaf takes at most; 0 for other fields. */
export function leafBytes(field: GraphQLField<unknown, unknown>): number {
  const type = getNamedType(field.type);
  if (!isLeafType(type)) return 0;
  return weightOf(field).bytes ?? (isEnumType(type) ? ENUM_BYTES : (SCALARS[type.name] ?? TEXT * BYTES_A_CHARACTER));
}

/** Whether a field answers a page: then the lists below it are as long as it is asked to be. */
export function isPaged(field: Pick<GraphQLField<unknown, unknown>, 'args'>): boolean {
  return field.args.some(({ name }) => name === 'first' || name === 'last');
}

export function isList(field: Pick<GraphQLField<unknown, unknown>, 'type'>): boolean {
  return isListType(getNullableType(field.type));
}

/**
 * How many items a field's list has at most, or on average in introspection.
 * @param page the length of the page that the list is part of, if it is
 */
export function listLength(
  schema: GraphQLSchema,
  parent: GraphQLNamedType | null,
  field: GraphQLField<unknown, unknown>,
  page: number | null,
): number {
  return (
    page ?? weightOf(field).most ?? introspectedLengths(schema).get(`${parent?.name}.${field.name}`) ?? LARGEST_PAGE
  );
}

/**
 * Lists of the schema that do not say how long they are at most: `Type.field`. There must be none, or a request could ask for more than
 * is counted. The rows of connections are counted by the page.
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

const introspected = new WeakMap<GraphQLSchema, ReadonlyMap<string, number>>();

/** How long the lists of introspection are, on average: so a page that shows the whole schema costs what it is. */
function introspectedLengths(schema: GraphQLSchema): ReadonlyMap<string, number> {
  const known = introspected.get(schema);
  if (known) return known;
  const types = Object.values(schema.getTypeMap());
  const fields = fieldsOf(types).map(({ field }) => field);
  const sum = (counts: number[]) => counts.reduce((all, each) => all + each, 0);
  const lengths = new Map([
    ['__Schema.types', types.length],
    ['__Schema.directives', schema.getDirectives().length],
    ['__Type.fields', fields.length / types.length],
    ['__Field.args', sum(fields.map(({ args }) => args.length)) / fields.length],
    [
      '__Type.inputFields',
      sum(types.map((type) => (isInputObjectType(type) ? Object.keys(type.getFields()).length : 0))) / types.length,
    ],
    ['__Type.enumValues', sum(types.map((type) => (isEnumType(type) ? type.getValues().length : 0))) / types.length],
    [
      '__Type.possibleTypes',
      sum(types.map((type) => (isAbstractType(type) ? schema.getPossibleTypes(type).length : 0))) / types.length,
    ],
    [
      '__Type.interfaces',
      sum(types.map((type) => (isObjectType(type) ? type.getInterfaces().length : 0))) / types.length,
    ],
  ]);
  introspected.set(schema, lengths);
  return lengths;
}
