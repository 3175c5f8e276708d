import type { z } from 'zod';
import type { Centimes, Currency } from '../money.ts';
import type { ExemptionCode } from '../morocco/exemptions.ts';
import type { PaymentMeans } from '../payment-means.ts';
import type { Environment } from '../tenant/tenant.ts';
import { timestampOf } from '../timestamp.ts';
import type { CustomerKind } from './customer-kind.ts';
import type { InvoiceStatus } from './lifecycle.ts';
import type { TaxRate } from './tax-rate.ts';
import type { Unit } from './units.ts';

/** The types of scalar values. REST and GraphQL each have a table of how they represent them. */
export interface ValueTypes {
  readonly id: string;
  readonly ids: readonly string[];
  readonly text: string;
  readonly ice: string;
  readonly customerKind: CustomerKind;
  readonly integer: number;
  readonly decimal: number;
  readonly boolean: boolean;
  readonly unit: Unit;
  readonly exemptionCode: ExemptionCode;
  readonly centimes: Centimes;
  readonly taxRate: TaxRate;
  readonly currency: Currency;
  readonly status: InvoiceStatus;
  readonly environment: Environment;
  readonly paymentMeans: PaymentMeans;
  readonly timestamp: Date;
  readonly metadata: Readonly<Record<string, string>>;
  readonly url: string;
}
export type ValueType = keyof ValueTypes;

interface Column {
  /** The name in REST; null if only GraphQL has the field. */
  readonly rest: string | null;
  readonly description: string;
  /** The description of the input, if it differs. */
  readonly inputDescription?: string;
  /**
   * Whether the value may be null in answers. Default: true if the input may leave the field out and has no default.
   */
  readonly nullable?: boolean;
  /** Beyond the contract: REST takes it in requests, and its answers have it only if `include` names it. */
  readonly beyond?: true;
  /** Only requests have it: the invoice is stored and shown with what follows from it. */
  readonly inputOnly?: true;
  /** Visible to secret keys only, so absent from REST's answers and from events. */
  readonly secretKeyOnly?: true;
  /** Position among the members of an event's `data`, where `object` has position 2; absent: events lack the field. */
  readonly event?: number;
}

/**
 * The form in which REST takes and shows a value of which it accepts only a part, such as the integers among the
 * quantities.
 */
interface Narrowed {
  /** The field of GraphQL that shows it, from which REST's answers take the value. */
  readonly from: string;
  /** Returns the value for a record that has the field. */
  readonly of: (record: never) => unknown;
  readonly type: ValueType;
  /** Absent if clients do not send the field. */
  readonly input?: z.ZodType;
  readonly description: string;
}

interface ValueField extends Column {
  readonly narrowed?: Narrowed;
  /** The input of REST, if it differs. */
  readonly restInput?: { readonly input: z.ZodType; readonly inputDescription: string };
  /** The value that is stored and answered if the input or a stored record has null or nothing. */
  readonly otherwise?: unknown;
  readonly type: ValueType;
  /** The input rule with its default; absent if clients do not send the field. */
  readonly input?: z.ZodType;
  /** Minimum of a number in answers; default 0. */
  readonly minimum?: number;
  /** Example for the documentation; default null. */
  readonly example?: unknown;
}

interface RecordField extends Column {
  readonly record: RecordType;
  /** If 'optional' with `nullable: false`, an absent record counts as one whose fields are all null. */
  readonly input?: 'required' | 'optional';
  /** A record without values counts as absent, so that a repeated request may contain it or not. */
  readonly emptyIsNone?: true;
}

interface ListField extends Column {
  readonly list: RecordType;
  /** Maximum number of items; the minimum is 1. */
  readonly most: number;
  readonly input?: 'required';
}

export type Field = ValueField | RecordField | ListField;

/** An object type of the contract. */
export interface RecordType {
  /** Name of its GraphQL type; `inputName` is that of its input. */
  readonly name: string;
  readonly inputName: string;
  /** Name of its OpenAPI schema; `restInputName` is that of its input. */
  readonly restName: string;
  readonly restInputName: string;
  readonly description: string;
  /**
   * The fields by their names in the domain and in GraphQL, in the order of the contract's tables. A name with dots is
   * a GraphQL path to a value that the invoice does not store.
   */
  readonly fields: Readonly<Record<string, Field>>;
}

type InputKey<Type extends RecordType> = {
  [Name in keyof Type['fields']]: Type['fields'][Name] extends { readonly input: unknown } ? Name : never;
}[keyof Type['fields']];

type InputSchema<Each> = Each extends { readonly list: infer Type extends RecordType }
  ? z.ZodArray<InputObject<Type>>
  : Each extends { readonly record: infer Type extends RecordType; readonly input: 'optional' }
    ? z.ZodOptional<z.ZodNullable<InputObject<Type>>>
    : Each extends { readonly record: infer Type extends RecordType }
      ? InputObject<Type>
      : Each extends { readonly input: infer Rule extends z.ZodType }
        ? Rule
        : never;

export type InputObject<Type extends RecordType> = z.ZodObject<
  { -readonly [Name in InputKey<Type>]: InputSchema<Type['fields'][Name]> },
  z.core.$strict
>;

/** A valid input, with the domain's names. */
export type Input<Type extends RecordType> = z.output<InputObject<Type>>;

type KeptValue<Each> = Each extends { readonly list: infer Type extends RecordType }
  ? readonly Kept<Type>[]
  : Each extends { readonly record: infer Type extends RecordType }
    ? Kept<Type> | AbsentRecord<Each>
    : Each extends { readonly otherwise: unknown; readonly input: infer Rule extends z.ZodType }
      ? NonNullable<z.output<Rule>>
      : Each extends { readonly input: infer Rule extends z.ZodType }
        ? Exclude<z.output<Rule>, undefined>
        : never;

/** Null for an absent optional record, unless the table says that it is stored with null members. */
type AbsentRecord<Each> = Each extends { readonly nullable: false }
  ? never
  : Each extends { readonly input: 'optional' }
    ? null
    : never;

type InputOnlyKey<Type extends RecordType> = {
  [Name in keyof Type['fields']]: Type['fields'][Name] extends { readonly inputOnly: true } ? Name : never;
}[keyof Type['fields']];

/** The fields of an input that are stored. */
export type Kept<Type extends RecordType> = {
  readonly [Name in Exclude<InputKey<Type>, InputOnlyKey<Type>>]: KeptValue<Type['fields'][Name]>;
};

type StoredValue<Each> = Each extends { readonly list: infer Type extends RecordType }
  ? readonly Stored<Type>[]
  : Each extends { readonly record: infer Type extends RecordType }
    ? Stored<Type> | AbsentRecord<Each>
    : Each extends { readonly input: unknown }
      ? KeptValue<Each>
      : Each extends { readonly type: infer Name extends ValueType }
        ? ValueTypes[Name] | (Each extends { readonly nullable: true } ? null : never)
        : never;

/** The fields that are stored: those of the input and those that processing sets. */
export type Stored<Type extends RecordType> = {
  readonly [Name in Exclude<keyof Type['fields'], `${string}.${string}` | InputOnlyKey<Type>>]: StoredValue<
    Type['fields'][Name]
  >;
};

/** The parts of a draft that are valid by themselves. */
export type ValidParts<Type extends RecordType> = {
  readonly [Name in InputKey<Type>]?:
    | (Type['fields'][Name] extends { readonly record: infer Part extends RecordType }
        ? ValidParts<Part> | null
        : z.output<InputSchema<Type['fields'][Name]>>)
    | undefined;
};

export type Face = 'rest' | 'graphql';

/** The keyword of the OpenAPI document for fields that go beyond the contract. */
export const EXTENSION = 'x-extension';

/** Returns a field as REST takes and shows it. */
function narrowed(field: Field): Field {
  if ('narrowed' in field && field.narrowed) return { ...field, ...field.narrowed };
  return 'restInput' in field && field.restInput ? { ...field, ...field.restInput } : field;
}

/** Returns the fields that clients send, with their names in one API. */
export function inputFields({ fields }: RecordType, face: Face): [name: string, field: Field][] {
  return Object.entries(fields).flatMap(([name, field]): [string, Field][] => {
    const shown = face === 'rest' ? field.rest : name;
    return field.input === undefined || shown === null ? [] : [[shown, face === 'rest' ? narrowed(field) : field]];
  });
}

/** Returns the fields of an input that are stored, with the domain's names. */
export function keptFields(type: RecordType): [name: string, field: Field][] {
  return inputFields(type, 'graphql').filter(([, { inputOnly }]) => !inputOnly);
}

/**
 * Returns the value of a field that the input leaves out (undefined if it has no default); null if the field is
 * required.
 */
export function whenAbsent({ input }: Field): { readonly value: unknown } | null {
  if (input === undefined || input === 'required') return null;
  if (input === 'optional') return { value: undefined };
  const { success, data } = input.safeParse(undefined);
  return success ? { value: data } : null;
}

/** Whether a field may be null in answers. */
export function isNullable(field: Field): boolean {
  if (field.nullable !== undefined) return field.nullable;
  if ('otherwise' in field) return false;
  const absent = whenAbsent(field);
  return absent !== null && absent.value === undefined;
}

/** A field of REST's answers, for any credential. */
export interface AnsweredField {
  /** Name in GraphQL, which is also the name in the domain, unless REST has only a part of the value. */
  readonly name: string;
  readonly rest: string;
  readonly field: Field;
}

/** Whether REST's answers have the field unasked. */
export function isAnswered(field: Field): field is Field & { readonly rest: string } {
  return field.rest !== null && !field.secretKeyOnly && !field.beyond;
}

export function answeredFields({ fields }: RecordType): AnsweredField[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    if (!isAnswered(field)) return [];
    const from = 'narrowed' in field && field.narrowed ? field.narrowed.from : name;
    return [{ name: from, rest: field.rest, field: narrowed(field) }];
  });
}

/** Returns the fields of an event's data, in their order. */
export function eventFields(type: RecordType): AnsweredField[] {
  const place = ({ field }: AnsweredField) => field.event ?? 0;
  return answeredFields(type)
    .filter((each) => place(each) > 0)
    .sort((a, b) => place(a) - place(b));
}

/** Makes an example of a REST answer or a REST input. */
export function exampleOf(type: RecordType, of: 'answer' | 'input'): Record<string, unknown> {
  const fields =
    of === 'answer'
      ? answeredFields(type).map(({ rest, field }) => [rest, field] as const)
      : inputFields(type, 'rest').filter(([, { beyond }]) => !beyond);
  const value = (field: Field) => {
    if ('type' in field) return field.example ?? null;
    return 'list' in field ? [exampleOf(field.list, of)] : exampleOf(field.record, of);
  };
  return Object.fromEntries(fields.map(([name, field]) => [name, value(field)]));
}

/**
 * Makes a function that writes fields as REST does.
 * @param values the argument of that function, an object with the domain's names; dots in a name are a path
 */
export function restWriter(fields: readonly AnsweredField[]): (values: unknown) => Record<string, unknown> {
  const writers = fields.map(({ name, rest, field }) => ({
    rest,
    read: valueReader(name, field),
    write: valueWriter(field),
  }));
  return (values) => Object.fromEntries(writers.map(({ rest, read, write }) => [rest, write(read(values) ?? null)]));
}

function valueReader(name: string, field: Field): (values: unknown) => unknown {
  if ('narrowed' in field && field.narrowed) return field.narrowed.of as (values: unknown) => unknown;
  const path = name.split('.');
  return (values) => path.reduce(memberOf, values);
}

function valueWriter(field: Field): (value: unknown) => unknown {
  if ('type' in field) return (value) => (value instanceof Date ? timestampOf(value) : value);
  const write = restWriter(answeredFields('list' in field ? field.list : field.record));
  if ('record' in field) return (value) => (value === null ? null : write(value));
  return (value) => (value as readonly unknown[]).map(write);
}

function memberOf(value: unknown, name: string): unknown {
  return (value as Readonly<Record<string, unknown>> | null | undefined)?.[name];
}

/** Translates a path to REST's names: `lines.0.unitPrice` becomes `lines.0.unit_price`. Unknown names stay. */
export function restPath(root: RecordType, path: string): string {
  let type: RecordType | null = root;
  const steps = path.split('.').map((step) => {
    if (/^\d+$/.test(step)) return step;
    const field: Field | undefined = type?.fields[step];
    type = field && 'record' in field ? field.record : field && 'list' in field ? field.list : null;
    return field?.rest ?? step;
  });
  return steps.join('.');
}
