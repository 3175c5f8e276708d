import { CommandError } from '../errors.ts';
import { describe } from '../query/describe.ts';
import { evaluateLet } from '../query/expression.ts';
import { asDoc, type Doc, typeName, wholeNumber } from '../query/types.ts';
import { decodeDocument, documentsIn, encodeDocument } from '../wire/bson.ts';

const NUMBERS = ['int', 'long', 'double', 'decimal'];

/** Reads the fields of a command, with MongoDB's errors for wrong types (14, 9). */
export class Arguments {
  readonly command: string;
  readonly body: Doc;
  readonly #sequences: Map<string, Uint8Array[]>;
  readonly #bytes: Uint8Array | undefined;

  /** @param bytes the body as received, so that its documents can be read without re-encoding */
  constructor(command: string, body: Doc, sequences: Map<string, Uint8Array[]> = new Map(), bytes?: Uint8Array) {
    this.#bytes = bytes;
    this.command = command;
    this.body = body;
    this.#sequences = sequences;
  }

  has(name: string): boolean {
    return this.body[name] !== undefined && this.body[name] !== null;
  }

  /** The collection in the command's first field; error 73 when the name is empty. */
  collection(): string {
    const name = this.#is(this.command, 'string') as string;
    if (name !== '') return name;
    throw new CommandError('InvalidNamespace', `Invalid namespace specified '${String(this.body.$db)}.'`);
  }

  string(name: string): string | undefined {
    return this.has(name) ? (this.#is(name, 'string') as string) : undefined;
  }

  document(name: string): Doc | undefined {
    if (!this.has(name)) return undefined;
    return asDoc(this.body[name]) ?? this.#wrong(name, 'object');
  }

  /** A boolean option. Numbers are accepted, as in MongoDB: 0 is false. */
  flag(name: string, absent = false): boolean {
    return flagIn(this.body, this.command, name, absent);
  }

  /** Whether an option is set to anything other than false, null or an empty document. */
  isEnabled(name: string): boolean {
    const value = this.body[name];
    if (!this.has(name) || value === false) return false;
    return !(asDoc(value) && Object.keys(value as Doc).length === 0);
  }

  /** A number of at least 0 (error 51024 otherwise), with its fraction cut off. */
  count(name: string): number | undefined {
    if (!this.has(name)) return undefined;
    const given = this.body[name];
    if (!NUMBERS.includes(typeName(given))) return this.#wrong(name, 'long');
    const number = Number(wholeNumber(given) ?? Math.trunc(Number(given)));
    const value = Number.isNaN(number) ? 0 : Math.min(number, Number.MAX_SAFE_INTEGER);
    if (value < 0) {
      throw new CommandError(51024, `BSON field '${name}' value must be >= 0, actual value '${value}'`);
    }
    return value;
  }

  /** `batchSize` in the field `cursor` of aggregate and of the list commands. */
  cursorBatchSize(): number | undefined {
    const cursor = this.document('cursor');
    if (!cursor) return undefined;
    checkFields(cursor, `${this.command}.cursor`, ['batchSize']);
    return new Arguments(`${this.command}.cursor`, cursor).count('batchSize');
  }

  integer(name: string): number | undefined {
    if (!this.has(name)) return undefined;
    const value = this.body[name];
    if (!NUMBERS.includes(typeName(value))) return this.#wrong(name, 'long');
    const whole = wholeNumber(value);
    if (whole === undefined)
      throw new CommandError('FailedToParse', `BSON field '${this.command}.${name}' must be a whole number`);
    return Number(whole);
  }

  list(name: string): unknown[] | undefined {
    if (!this.has(name)) return undefined;
    const value = this.body[name];
    return Array.isArray(value) ? value : this.#wrong(name, 'array');
  }

  /** An array of documents, from the body or from a document sequence. */
  documents(name: string): Doc[] {
    const sequence = this.#sequences.get(name);
    if (sequence) return sequence.map(decodeDocument);
    return this.#required(name).map((item, n) => asDoc(item) ?? this.#wrong(`${name}.${n}`, 'object', item));
  }

  /** Like `documents`, but as BSON bytes as received. */
  rawDocuments(name: string): Uint8Array[] {
    const documents = this.#sequences.get(name);
    return documents ?? (this.#bytes && documentsIn(this.#bytes, name)) ?? this.documents(name).map(encodeDocument);
  }

  /** Evaluates the variables of `let`. */
  variables(): Doc {
    return evaluateLet(this.document('let') ?? {});
  }

  /** Throws error 40415 for an option that is not in `known`. */
  checkNames(known: ReadonlySet<string>): void {
    for (const name of [...Object.keys(this.body), ...this.#sequences.keys()]) {
      if (name === this.command || known.has(name)) continue;
      throw new CommandError(40415, `BSON field '${this.command}.${name}' is an unknown field.`);
    }
  }

  /** A string; error 40414 if it is missing. */
  requiredString(name: string): string {
    return this.string(name) ?? this.#missing(name);
  }

  #required(name: string): unknown[] {
    return this.list(name) ?? this.#missing(name);
  }

  #missing(name: string): never {
    throw new CommandError(40414, `BSON field '${this.command}.${name}' is missing but a required field`);
  }

  #is(name: string, type: string): unknown {
    const value = this.body[name];
    return typeName(value) === type ? value : this.#wrong(name, type);
  }

  #wrong(name: string, expected: string, value: unknown = this.body[name]): never {
    throw wrongType(`${this.command}.${name}`, value, expected);
  }
}

function wrongType(field: string, value: unknown, expected: string): CommandError {
  return new CommandError(
    'TypeMismatch',
    `BSON field '${field}' is the wrong type '${typeName(value)}', expected type '${expected}'`,
  );
}

/** Throws error 40415 for a field that is not in `known`, in a part of a command such as an entry of `updates`. */
export function checkFields(part: Doc, where: string, known: readonly string[]): void {
  for (const name of Object.keys(part)) {
    if (!known.includes(name)) throw new CommandError(40415, `BSON field '${where}.${name}' is an unknown field.`);
  }
}

/** A boolean in a part of a command. Numbers are accepted; any other type is error 14. */
export function flagIn(part: Doc, where: string, name: string, absent = false): boolean {
  const value = part[name];
  if (value === undefined || value === null) return absent;
  if (typeof value === 'boolean') return value;
  if (NUMBERS.includes(typeName(value))) return Number(value) !== 0;
  throw wrongType(`${where}.${name}`, value, 'bool');
}

/**
 * Checks that the value is one of these strings; otherwise error 2. @param field with its command or stage, for the
 * message
 */
export function choiceIn<T extends string>(field: string, value: unknown, choices: readonly T[]): T {
  const chosen = choices.find((each) => each === value);
  if (chosen !== undefined) return chosen;
  const shown = typeof value === 'string' ? value : describe(value);
  throw new CommandError('BadValue', `Enumeration value '${shown}' for field '${field}' is not a valid value.`);
}

/** Throws error 238 for any collation other than `simple`. */
export function checkCollation(collation: unknown): void {
  if (collation === undefined || collation === null) return;
  const locale = asDoc(collation)?.locale;
  if (Object.keys(collation).length > 0 && locale !== 'simple') {
    throw new CommandError(
      'NotImplemented',
      `collation ${JSON.stringify(locale)} is not supported by this server: only 'simple' is`,
    );
  }
}
