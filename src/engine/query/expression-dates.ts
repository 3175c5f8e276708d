import { Int32, type ObjectId, type Timestamp } from 'bson';
import { type CodeName, CommandError } from '../errors.ts';
import {
  type Compile,
  dateAt,
  type Environment,
  type Expression,
  isNullish,
  namedOperands,
  type Operator,
} from './expression-types.ts';
import { asDoc, typeName } from './types.ts';

const fail = (code: CodeName | number, message: string): never => {
  throw new CommandError(code, message);
};

const DAY = 86_400_000;

/** A date in a time zone, represented as a JS date whose UTC fields hold the local time. */
type Local = Date;

/** Operators for the parts and the formatting of dates, in UTC or in a time zone (an offset or an IANA name). */
export const DATES: Readonly<Record<string, Operator>> = {
  $year: part((date) => date.getUTCFullYear()),
  $month: part((date) => date.getUTCMonth() + 1),
  $dayOfMonth: part((date) => date.getUTCDate()),
  $dayOfWeek: part((date) => date.getUTCDay() + 1),
  $dayOfYear: part(dayOfYear),
  $hour: part((date) => date.getUTCHours()),
  $minute: part((date) => date.getUTCMinutes()),
  $second: part((date) => date.getUTCSeconds()),
  $millisecond: part((date) => date.getUTCMilliseconds()),
  $isoDayOfWeek: part((date) => date.getUTCDay() || 7),
  $isoWeek: part((date) => isoWeek(date).week),
  $isoWeekYear: part((date) => isoWeek(date).year),
  $dateToString: (operand, compile, name) => {
    const fields = ['date', 'format', 'timezone', 'onNull'];
    const named = namedOperands(operand, name, fields, ['date'], 18534);
    const date = compile(named.date);
    const format = Object.hasOwn(named, 'format') ? compile(named.format) : undefined;
    const zone = zoneOf(named.timezone, compile);
    const onNull = compile(named.onNull ?? null);
    return (environment) => {
      const value = date(environment);
      if (isNullish(value)) return onNull(environment);
      const offset = zone(environment, instant(value, name));
      if (offset === null) return null;
      const pattern = format?.(environment);
      if (format !== undefined && isNullish(pattern)) return null;
      if (pattern !== undefined && typeof pattern !== 'string') {
        return fail(18533, `${name} requires that 'format' be a string, found: ${typeName(pattern)}`);
      }
      const local = dateAt(instant(value, name).getTime() + offset * 60_000);
      return formatDate(local, offset, pattern ?? (offset === 0 ? '%Y-%m-%dT%H:%M:%S.%LZ' : '%Y-%m-%dT%H:%M:%S.%L'));
    };
  },
  $dateTrunc: (operand, compile, name) => {
    const named = namedOperands(operand, name, ['date', 'unit', 'timezone'], ['date', 'unit'], 5439008);
    const [date, unit, zone] = [compile(named.date), compile(named.unit), zoneOf(named.timezone, compile)];
    return (environment) => {
      const [value, size] = [date(environment), unit(environment)];
      if (isNullish(value) || isNullish(size)) return null;
      const at = instant(value, name);
      const offset = zone(environment, at);
      if (offset === null) return null;
      const local = truncate(dateAt(at.getTime() + offset * 60_000), String(size), name);
      const back = zone(environment, dateAt(local.getTime() - offset * 60_000)) ?? offset;
      return dateAt(local.getTime() - back * 60_000);
    };
  },
};

function part(read: (local: Local) => number): Operator {
  return (operand, compile, name) => {
    const doc = asDoc(operand);
    const named =
      doc !== undefined && Object.hasOwn(doc, 'date')
        ? namedOperands(doc, name, ['date', 'timezone'], ['date'], 40535)
        : undefined;
    const plain = Array.isArray(operand) && operand.length === 1 ? operand[0] : operand;
    const date = compile(named === undefined ? plain : named.date);
    const zone = zoneOf(named?.timezone, compile);
    return (environment) => {
      const value = date(environment);
      if (isNullish(value)) return null;
      const at = instant(value, name);
      const offset = zone(environment, at);
      return offset === null ? null : new Int32(read(dateAt(at.getTime() + offset * 60_000)));
    };
  };
}

/** Converts a date, a timestamp or an ObjectId to its instant; error 16006 for any other value. */
function instant(value: unknown, name: string): Date {
  if (value instanceof Date) return dateAt(value.getTime());
  switch (typeName(value)) {
    case 'timestamp':
      return new Date((value as Timestamp).getHighBitsUnsigned() * 1000);
    case 'objectId':
      return (value as ObjectId).getTimestamp();
    default:
      return fail(16006, `can't convert from BSON type ${typeName(value)} to Date in ${name}`);
  }
}

/** Compiles a time zone to a function that returns its offset in minutes at an instant; null when the zone is null. */
function zoneOf(spec: unknown, compile: Compile): (environment: Environment, at: Date) => number | null {
  if (spec === undefined) return () => 0;
  const zone: Expression = compile(spec);
  return (environment, at) => {
    const value = zone(environment);
    if (isNullish(value)) return null;
    if (typeof value !== 'string') return fail(40533, `timezone must evaluate to a string, found ${typeName(value)}`);
    return zoneOffset(value, at);
  };
}

/**
 * Formatters by zone name as the client spelled it. Zones are few, but spellings are unlimited, so the cache has a
 * limit.
 */
const formatters = new Map<string, Intl.DateTimeFormat>();
const MOST_FORMATTERS = 500;

function zoneOffset(zone: string, at: Date): number {
  if (zone === 'Z' || zone === 'UTC' || zone === 'GMT') return 0;
  const fixed = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone);
  if (fixed) return (fixed[1] === '-' ? -1 : 1) * (Number(fixed[2]) * 60 + Number(fixed[3] ?? 0));
  let formatter = formatters.get(zone);
  if (formatter === undefined) {
    try {
      formatter = new Intl.DateTimeFormat('en-US', {
        timeZone: zone,
        hourCycle: 'h23',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        second: 'numeric',
      });
    } catch {
      return fail(40485, `unrecognized time zone identifier: "${zone}"`);
    }
    if (formatters.size >= MOST_FORMATTERS) formatters.clear();
    formatters.set(zone, formatter);
  }
  const parts = Object.fromEntries(
    formatter.formatToParts(at).map(({ type, value }) => [type, Number(value)]),
  ) as Record<string, number>;
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  const local = Date.UTC(year, month - 1, day, hour, minute, second);
  return Math.round((local - Math.floor(at.getTime() / 1000) * 1000) / 60_000);
}

function formatDate(local: Local, offset: number, format: string): string {
  return format.replace(/%(.?)/g, (_, specifier: string) => {
    const pad = (value: number, width: number) => String(value).padStart(width, '0');
    switch (specifier) {
      case 'Y':
        return pad(local.getUTCFullYear(), 4);
      case 'm':
        return pad(local.getUTCMonth() + 1, 2);
      case 'd':
        return pad(local.getUTCDate(), 2);
      case 'H':
        return pad(local.getUTCHours(), 2);
      case 'M':
        return pad(local.getUTCMinutes(), 2);
      case 'S':
        return pad(local.getUTCSeconds(), 2);
      case 'L':
        return pad(local.getUTCMilliseconds(), 3);
      case 'j':
        return pad(dayOfYear(local), 3);
      case 'w':
        return String(local.getUTCDay() + 1);
      case 'u':
        return String(local.getUTCDay() || 7);
      case 'V':
        return pad(isoWeek(local).week, 2);
      case 'G':
        return pad(isoWeek(local).year, 4);
      case 'z':
        return `${offset < 0 ? '-' : '+'}${pad(Math.floor(Math.abs(offset) / 60), 2)}${pad(Math.abs(offset) % 60, 2)}`;
      case 'Z':
        return `${offset < 0 ? '-' : '+'}${Math.abs(offset)}`;
      case '%':
        return '%';
      default:
        return specifier === ''
          ? fail(18535, "Unmatched '%' at end of format string")
          : fail(18536, `Invalid format character '%${specifier}' in format string`);
    }
  });
}

/**
 * The first instant of a month (0 to 11) in the date's year. Unlike `Date.UTC`, it does not read the years 0 to 99 as
 * 19xx.
 */
function startOfMonth(local: Local, month: number): Local {
  const start = new Date(local);
  start.setUTCMonth(month, 1);
  start.setUTCHours(0, 0, 0, 0);
  return start;
}

function dayOfYear(local: Local): number {
  return Math.floor((local.getTime() - startOfMonth(local, 0).getTime()) / DAY) + 1;
}

function isoWeek(local: Local): { week: number; year: number } {
  const thursday = dateAt(local.getTime() + (4 - (local.getUTCDay() || 7)) * DAY);
  return { week: Math.floor((dayOfYear(thursday) - 1) / 7) + 1, year: thursday.getUTCFullYear() };
}

const LENGTHS: Readonly<Record<string, number>> = {
  day: DAY,
  hour: 3_600_000,
  minute: 60_000,
  second: 1000,
  millisecond: 1,
};

function truncate(local: Local, unit: string, name: string): Local {
  const month = local.getUTCMonth();
  switch (unit) {
    case 'year':
      return startOfMonth(local, 0);
    case 'quarter':
      return startOfMonth(local, month - (month % 3));
    case 'month':
      return startOfMonth(local, month);
    case 'week':
      return truncate(dateAt(local.getTime() - local.getUTCDay() * DAY), 'day', name);
    default: {
      const length = Object.hasOwn(LENGTHS, unit) ? LENGTHS[unit] : undefined;
      if (length === undefined) return fail('FailedToParse', `${name}: unknown time unit value: ${unit}`);
      return dateAt(Math.floor(local.getTime() / length) * length);
    }
  }
}
