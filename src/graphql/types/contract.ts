import type { InputFieldMap, ObjectFieldBuilder } from '@pothos/core';
import { defaultFieldResolver } from 'graphql';
import {
  type Field,
  type Input,
  inputFields,
  isNullable,
  type RecordType,
  type Stored,
  type ValueType,
  whenAbsent,
} from '../../domain/invoice/field-table.ts';
import { STATUSES } from '../../domain/invoice/lifecycle.ts';
import { isMember } from '../../domain/principal.ts';
import { builder } from '../builder.ts';
import type { GraphQLContext } from '../context.ts';
import { enumOf } from '../enum-of.ts';
import { CustomerKindType } from './customer-kind.ts';
import { EnvironmentType } from './environment.ts';
import { ExemptionCodeType } from './exemption-code.ts';
import { PaymentMeansType } from './payment-means.ts';
import { notThenable } from './scalars.ts';
import { UnitType } from './unit.ts';

// The types of the contract, made at start from the table of an invoice's fields. Pothos infers types only from fields
// written in code, so its inference ends at this file.

export const InvoiceStatusType = enumOf(
  'InvoiceStatus',
  'The status of an invoice in its life cycle. The names are those of REST.',
  STATUSES,
);

const TYPES = {
  id: 'ID',
  ids: ['ID'],
  text: 'String',
  ice: 'String',
  customerKind: CustomerKindType,
  integer: 'SafeInt',
  decimal: 'Decimal',
  boolean: 'Boolean',
  unit: UnitType,
  exemptionCode: ExemptionCodeType,
  centimes: 'Centimes',
  taxRate: 'Int',
  currency: 'String',
  status: InvoiceStatusType,
  environment: EnvironmentType,
  paymentMeans: PaymentMeansType,
  timestamp: 'DateTime',
  metadata: 'Metadata',
  url: 'String',
} as const satisfies Readonly<Record<ValueType, unknown>>;

type SchemaTypes = typeof builder.$inferSchemaTypes;

/** Resolvers by field name, for fields whose stored value differs from the value shown. */
export type Resolvers<Row> = Readonly<Record<string, (row: Row) => unknown>>;

/** Makes the fields of an object or an interface. Fields of nested objects, whose names contain a dot, are left out. */
export function outputFields<Row extends object>(
  t: Pick<ObjectFieldBuilder<SchemaTypes, Row>, 'field'>,
  { fields }: RecordType,
  resolvers: Resolvers<Row> = {},
) {
  const own = Object.entries(fields).filter(([name, { inputOnly }]) => !name.includes('.') && !inputOnly);
  return Object.fromEntries(
    own.flatMap(([name, field]) => {
      const made = t.field({
        type: outputType(field) as 'String',
        nullable: isNullable(field),
        description: field.description,
        resolve: resolverOf(name, field, resolvers[name]) as () => string,
      });
      return [[name, made], ...narrowedField(t, name, field)];
    }),
  );
}

/** Makes the field that shows a value as REST shows it; none if REST shows the whole value. */
function narrowedField<Row extends object>(
  t: Pick<ObjectFieldBuilder<SchemaTypes, Row>, 'field'>,
  name: string,
  field: Field,
) {
  if (!('narrowed' in field) || !field.narrowed) return [];
  const { from, of, type } = field.narrowed;
  const description = `\`${name}\` as REST shows it, which knows whole numbers only: a line with a decimal, a discount or a price with tax is one piece at its amount.`;
  const made = t.field({ type: TYPES[type] as 'String', description, resolve: of as () => string });
  return [[from, made] as const];
}

/**
 * Returns the resolver of a field. A field without a rule of its own keeps graphql-js's default resolver, which
 * compiled queries inline.
 */
function resolverOf<Row>(name: string, field: Field, find: ((row: Row) => unknown) | undefined) {
  if ('type' in field && field.type === 'metadata') {
    return (row: Row) => notThenable((row as Readonly<Record<string, object>>)[name] ?? {});
  }
  if (!field.secretKeyOnly) return find ?? defaultFieldResolver;
  return (row: Row, _args: object, { principal }: GraphQLContext) => {
    if (!isMember(principal)) return null;
    return find ? find(row) : (row as Readonly<Record<string, unknown>>)[name];
  };
}

const objects = new Map<RecordType, unknown>();

function outputType(field: Field): unknown {
  if ('type' in field) return TYPES[field.type];
  return 'list' in field ? [objectType(field.list)] : objectType(field.record);
}

/** Returns the object type of a record, to which `Row` adds computed values. @param type in the table of fields */
export function typeOfRecord<Row>(type: RecordType) {
  return objectType(type) as PothosSchemaTypes.ObjectRef<SchemaTypes, Row>;
}

function objectType(type: RecordType): unknown {
  const known = objects.get(type);
  if (known) return known;
  const made = builder.objectRef<Stored<RecordType>>(type.name).implement({
    description: type.description,
    fields: (t) => outputFields(t, type),
  });
  objects.set(type, made);
  return made;
}

/** Makes the input type, with required fields and defaults. `inputSchema` has the rules of its values. */
export function inputType<Type extends RecordType>(type: Type) {
  return inputTypeOf(type, false) as InputRef<Input<Type>>;
}

/** Makes the input type for validation, with the same fields, none of them required. */
export function draftType(type: RecordType) {
  return inputTypeOf(type, true);
}

type InputRef<Shape> = PothosSchemaTypes.InputObjectRef<SchemaTypes, Shape>;

const inputs = new Map<string, InputRef<object>>();

function inputTypeOf(type: RecordType, isDraft: boolean): InputRef<object> {
  const fields = inputFields(type, 'graphql').map(([name, field]) => ({ name, field, absent: defaultOf(field) }));
  // An input without required fields and defaults can be its own draft.
  const requires = fields.some(({ absent }) => absent !== null);
  const name = isDraft && requires ? `${type.name}Draft` : type.inputName;
  const known = inputs.get(name);
  if (known) return known;
  const made = builder.inputType(name, {
    description: isDraft ? `${type.description} For validation: no field is required.` : type.description,
    fields: (t) =>
      Object.fromEntries(
        fields.map(({ name, field, absent }) => {
          const made = t.field({
            type: inputTypeOfField(field, isDraft) as 'String',
            description: field.inputDescription ?? field.description,
            ...(!isDraft && absent),
          });
          return [name, made];
        }),
      ) as InputFieldMap,
  });
  inputs.set(name, made);
  return made;
}

/**
 * Returns whether the input requires a field, and its default; null for an optional field without a default. A field
 * with a default accepts null too, as in REST.
 */
function defaultOf(field: Field): { readonly required: true } | { readonly defaultValue: string } | null {
  const absent = whenAbsent(field);
  if (absent === null) return { required: true };
  const { value } = absent;
  return value === undefined || typeof value === 'object' ? null : { defaultValue: value as string };
}

function inputTypeOfField(field: Field, isDraft: boolean): unknown {
  if ('type' in field) return TYPES[field.type];
  return 'list' in field ? [inputTypeOf(field.list, isDraft)] : inputTypeOf(field.record, isDraft);
}
