import type { z } from 'zod';
import type { Centimes, Currency } from '../money.ts';
import type { PaymentMeans } from '../payment-means.ts';
import type { Environment } from '../tenant/tenant.ts';
import { timestampOf } from '../timestamp.ts';
import type { InvoiceStatus } from './lifecycle.ts';
import type { TaxRate } from './tax-rate.ts';

/** The types of single values. REST and GraphQL each have a table that says how they write them. */
export interface ValueTypes {
  readonly id: string;
  readonly text: string;
  readonly ice: string;
  readonly integer: number;
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
  /** The name in REST; null: the field is GraphQL's only. */
  readonly rest: string | null;
  readonly description: string;
  /** Where that of the input differs. */
  readonly inputDescription?: string;
  /** Whether answers may have null here. Unless given, they may where the input may leave the field out. */
  readonly nullable?: boolean;
  /** Shown to nobody but a secret key, so neither in REST's answers nor in events. */
  readonly secretKeyOnly?: true;
  /** The place among the members of an event's `data`, where `object` has the second; absent: events do not have the field. */
  readonly event?: number;
}

interface ValueField extends Column {
  readonly type: ValueType;
  /** The rule of what clients send, with its default; absent: clients do not send the field. */
  readonly input?: z.ZodType;
  /** The least value of a number in answers; 0 unless given. */
  readonly minimum?: number;
  /** For the documentation; null unless given. */
  readonly example?: unknown;
}

interface RecordField extends Column {
  readonly record: RecordType;
  readonly input?: 'required' | 'optional';
}

interface ListField extends Column {
  readonly list: RecordType;
  /** Items at most; at least one is needed. */
  readonly most: number;
  readonly input?: 'required';
}

export type Field = ValueField | RecordField | ListField;

/** An object of the contract. */
export interface RecordType {
  /** Of its types in GraphQL. */
  readonly name: string;
  readonly inputName: string;
  /** Of its schemas in OpenAPI. */
  readonly restName: string;
  readonly restInputName: string;
  readonly description: string;
  /**
   * By their names in the domain and in GraphQL, in the order of the contract's tables. A name with dots is the path in GraphQL of
   * a value that the invoice itself does not keep.
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

/** What a client sends, in the domain's names, checked. */
export type Input<Type extends RecordType> = z.output<InputObject<Type>>;

type KeptValue<Each> = Each extends { readonly list: infer Type extends RecordType }
  ? readonly Kept<Type>[]
  : Each extends { readonly record: infer Type extends RecordType }
    ? Kept<Type>
    : Each extends { readonly input: infer Rule extends z.ZodType }
      ? Exclude<z.output<Rule>, undefined>
      : never;

/** What is kept of an input. */
export type Kept<Type extends RecordType> = {
  readonly [Name in InputKey<Type>]: KeptValue<Type['fields'][Name]>;
};

type StoredValue<Each> = Each extends { readonly list: infer Type extends RecordType }
  ? readonly Stored<Type>[]
  : Each extends { readonly record: infer Type extends RecordType }
    ? Stored<Type>
    : Each extends { readonly input: unknown }
      ? KeptValue<Each>
      : Each extends { readonly type: infer Name extends ValueType }
        ? ValueTypes[Name] | (Each extends { readonly nullable: true } ? null : never)
        : never;

/** The fields that are kept: those of the input, and those that processing fills. */
export type Stored<Type extends RecordType> = {
  readonly [Name in Exclude<keyof Type['fields'], `${string}.${string}`>]: StoredValue<Type['fields'][Name]>;
};

/** The parts of a draft that are valid, each for itself. */
export type ValidParts<Type extends RecordType> = {
  readonly [Name in InputKey<Type>]?:
    | (Type['fields'][Name] extends { readonly record: infer Part extends RecordType }
        ? ValidParts<Part> | null
        : z.output<InputSchema<Type['fields'][Name]>>)
    | undefined;
};

export type Face = 'rest' | 'graphql';

/** The fields that clients send, with their names in one face. */
export function inputFields({ fields }: RecordType, face: Face): [name: string, field: Field][] {
  return Object.entries(fields).flatMap(([name, field]): [string, Field][] => {
    const shown = face === 'rest' ? field.rest : name;
    return field.input === undefined || shown === null ? [] : [[shown, field]];
  });
}

/** The value of a field that the input leaves out, undefined where there is no default; null: it must not be left out. */
export function whenAbsent({ input }: Field): { readonly value: unknown } | null {
  if (input === undefined || input === 'required') return null;
  if (input === 'optional') return { value: undefined };
  const { success, data } = input.safeParse(undefined);
  return success ? { value: data } : null;
}

/** Whether answers may have null for a field. */
export function isNullable(field: Field): boolean {
  if (field.nullable !== undefined || !('type' in field)) return field.nullable ?? false;
  const absent = whenAbsent(field);
  return absent !== null && absent.value === undefined;
}

/** A field that REST answers, to whatever credential. */
export interface AnsweredField {
  /** In the domain and in GraphQL. */
  readonly name: string;
  readonly rest: string;
  readonly field: Field;
}

export function answeredFields({ fields }: RecordType): AnsweredField[] {
  return Object.entries(fields).flatMap(([name, field]) =>
    field.rest === null || field.secretKeyOnly ? [] : [{ name, rest: field.rest, field }],
  );
}

/** The fields of an event's data, in their order there. */
export function eventFields(type: RecordType): AnsweredField[] {
  const place = ({ field }: AnsweredField) => field.event ?? 0;
  return answeredFields(type)
    .filter((each) => place(each) > 0)
    .sort((a, b) => place(a) - place(b));
}

/** An example of what REST answers, or of what it is sent. */
export function exampleOf(type: RecordType, of: 'answer' | 'input'): Record<string, unknown> {
  const fields =
    of === 'answer' ? answeredFields(type).map(({ rest, field }) => [rest, field] as const) : inputFields(type, 'rest');
  const value = (field: Field) => {
    if ('type' in field) return field.example ?? null;
    return 'list' in field ? [exampleOf(field.list, of)] : exampleOf(field.record, of);
  };
  return Object.fromEntries(fields.map(([name, field]) => [name, value(field)]));
}

/** Makes the function that writes fields as REST does. @param values of it: an object with the fields by their names, whose dots are paths */
export function restWriter(fields: readonly AnsweredField[]): (values: unknown) => Record<string, unknown> {
  const writers = fields.map(({ name, rest, field }) => ({ path: name.split('.'), rest, write: valueWriter(field) }));
  return (values) =>
    Object.fromEntries(writers.map(({ path, rest, write }) => [rest, write(path.reduce(memberOf, values) ?? null)]));
}

function valueWriter(field: Field): (value: unknown) => unknown {
  if ('type' in field) return (value) => (value instanceof Date ? timestampOf(value) : value);
  const write = restWriter(answeredFields('list' in field ? field.list : field.record));
  return 'list' in field ? (value) => (value as readonly unknown[]).map(write) : write;
}

function memberOf(value: unknown, name: string): unknown {
  return (value as Readonly<Record<string, unknown>> | null | undefined)?.[name];
}

/** A path in REST's names: `lines.0.unitPrice` becomes `lines.0.unit_price`. What is not in the table keeps its name. */
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
