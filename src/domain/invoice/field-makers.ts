import { z } from 'zod';
import { exactly, expected } from '../input-problems.ts';
import {
  EXTENSION,
  exampleOf,
  type Face,
  type Field,
  type Input,
  type InputObject,
  inputFields,
  isNullable,
  type Kept,
  keptFields,
  type RecordType,
  type ValidParts,
  whenAbsent,
} from './field-table.ts';

/**
 * Makes the schema of an input in one API. It checks only the structure, so a violation is a 400. Unknown members are
 * refused.
 */
export function inputSchema<Type extends RecordType>(type: Type, face: Face): InputObject<Type> {
  const fields = inputFields(type, face);
  const required = fields.filter(([, field]) => whenAbsent(field) === null);
  const names = (required.length > 0 ? required : fields).map(([name]) => name);
  const listed = [names.slice(0, -1).join(', '), names.at(-1)].filter(Boolean).join(' and ');
  const what = `${face === 'rest' ? 'a JSON object' : 'an object'} with ${listed}`;
  const shape = Object.fromEntries(fields.map(([name, field]) => [name, ruleOf(field, face)]));
  // OpenAPI contains REST's schemas only.
  const meta = face === 'rest' ? { id: type.restInputName, examples: [exampleOf(type, 'input')] } : {};
  return exactly(shape, what).meta(meta) as unknown as InputObject<Type>;
}

function ruleOf(field: Field, face: Face): z.ZodType {
  const description = field.inputDescription ?? field.description;
  return bareRule(field, face).meta({ description, ...(face === 'rest' && field.beyond && { [EXTENSION]: true }) });
}

function bareRule(field: Field, face: Face): z.ZodType {
  if ('type' in field) return field.input ?? z.never();
  if ('record' in field) {
    const rule = inputSchema(field.record, face);
    if (field.input !== 'optional') return rule;
    return field.emptyIsNone ? rule.nullish().overwrite(noneIfEmpty) : rule.nullish();
  }
  return z
    .array(inputSchema(field.list, face), { error: expected('a list of at least one item') })
    .min(1, { error: 'is empty: at least one item is expected' })
    .max(field.most, { error: `has too many items: at most ${field.most}` });
}

function noneIfEmpty<Value>(record: Value): Value | null {
  return record && Object.values(record).every((member) => member == null) ? null : record;
}

/** Makes a function that translates a valid REST input to the domain's names. */
export function restReader<Type extends RecordType>(type: Type): (input: object) => Input<Type> {
  const readers = Object.entries(type.fields).flatMap(([name, field]) => {
    if (field.input === undefined || field.rest === null) return [];
    return [{ name, rest: field.rest, read: nested(field, restReader) }];
  });
  return (input) => {
    const members = input as Readonly<Record<string, unknown>>;
    const read = readers.map(({ name, rest, read }) => [name, read(members[rest])]);
    return Object.fromEntries(read) as Input<Type>;
  };
}

/** Makes a function that selects the fields to store from a valid input; absent fields become null. */
export function keeper<Type extends RecordType>(type: Type): (input: Partial<Input<Type>>) => Kept<Type> {
  const keepers = keptFields(type).map(([name, field]) => {
    const keep = nested(field, keeper);
    const absent = 'record' in field && !isNullable(field) ? {} : otherwiseOf(field);
    return { name, keep: (value: unknown) => keep(value ?? absent) ?? null };
  });
  return (input) => {
    const members = input as Readonly<Record<string, unknown>>;
    return Object.fromEntries(keepers.map(({ name, keep }) => [name, keep(members[name])])) as Kept<Type>;
  };
}

/**
 * Makes a function that completes a stored record with fields that were added to the table later: each gets its
 * default, or null. A record that lacks nothing is returned itself.
 */
export function completer<Type extends RecordType>(type: Type): <Row extends object>(stored: Row) => Row {
  const members = [
    ...keptFields(type).map(([name, field]) => ({ name, complete: memberCompleter(field) })),
    ...computedFields(type).map((name) => ({ name, complete: (value: unknown) => value ?? null })),
  ];
  return (stored) => {
    let whole: Record<string, unknown> | null = null;
    for (const { name, complete } of members) {
      const value = (stored as Readonly<Record<string, unknown>>)[name];
      const completed = complete(value);
      if (completed === value) continue;
      // Copied once: an invoice has up to a thousand lines.
      whole ??= { ...(stored as Readonly<Record<string, unknown>>) };
      whole[name] = completed;
    }
    return (whole ?? stored) as typeof stored;
  };
}

/** Returns the stored fields that the service computes at creation, and that may be null. */
function computedFields({ fields }: RecordType): string[] {
  return Object.entries(fields).flatMap(([name, field]) =>
    field.input === undefined && field.nullable && !name.includes('.') ? [name] : [],
  );
}

function memberCompleter(field: Field): (value: unknown) => unknown {
  if ('type' in field) {
    const absent = whenAbsent(field)?.value ?? otherwiseOf(field);
    return (value) => value ?? absent;
  }
  if ('record' in field) {
    const complete = completer(field.record);
    const absent = isNullable(field) ? null : complete({});
    return (value) => (value == null ? absent : complete(value));
  }
  const complete = completer(field.list);
  return (value) => {
    const rows = (value ?? []) as readonly object[];
    const completed = rows.map(complete);
    return completed.every((row, index) => row === rows[index]) ? rows : completed;
  };
}

function otherwiseOf(field: Field): unknown {
  return ('otherwise' in field ? field.otherwise : undefined) ?? null;
}

/** Applies the function made for a record's type to the records within a field. Other values are returned unchanged. */
function nested(field: Field, make: (type: RecordType) => (members: never) => unknown): (value: unknown) => unknown {
  if ('type' in field) return (value) => value;
  const each = make('record' in field ? field.record : field.list) as (members: unknown) => unknown;
  if ('record' in field) return (value) => (value == null ? value : each(value));
  return (value) => (value as readonly unknown[]).map(each);
}

/**
 * Makes a function that finds the valid parts of any value. A list is valid or invalid as a whole, a record member by
 * member.
 */
export function partsReader<Type extends RecordType>(type: Type): (draft: unknown) => ValidParts<Type> {
  const readers = inputFields(type, 'graphql').map(([name, field]) => {
    if ('record' in field) {
      const read = partsReader(field.record);
      return { name, read: (value: unknown) => (value == null ? undefined : read(value)) };
    }
    const rule = bareRule(field, 'graphql');
    return { name, read: (value: unknown) => rule.safeParse(value).data };
  });
  return (draft) => {
    const members = Object(draft) as Readonly<Record<string, unknown>>;
    return Object.fromEntries(readers.map(({ name, read }) => [name, read(members[name])])) as ValidParts<Type>;
  };
}
