import { type Binary, calculateObjectSize } from 'bson';
import { CommandError } from '../errors.ts';
import { MAX_DOCUMENT } from '../wire/bson.ts';
import { asDoc, type Doc } from './types.ts';

/** Limit on the bytes that one stage may keep in memory, as in MongoDB. Nothing is spilled to disk. */
const STAGE_BYTES = 100 * 1024 * 1024;

/** Counts the BSON bytes of the documents and values that a stage keeps in memory. */
export class MemoryBudget {
  private bytes = 0;
  private readonly stage: string;
  private readonly limit: number;

  constructor(stage: string, limit = STAGE_BYTES) {
    this.stage = stage;
    this.limit = limit;
  }

  /**
   * Counts a document as kept in memory.
   * @throws CommandError QueryExceededMemoryLimitNoDiskUseAllowed (292) beyond the limit
   */
  take(doc: Doc): void {
    this.change(valueBytes(doc));
  }

  release(doc: Doc): void {
    this.bytes -= valueBytes(doc);
  }

  /** @param bytes number of bytes to add; negative to subtract @throws as `take` */
  change(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > this.limit) throw this.exceeded();
  }

  protected exceeded(): CommandError {
    return new CommandError(
      'QueryExceededMemoryLimitNoDiskUseAllowed',
      `Exceeded memory limit for ${this.stage}, but didn't allow external sort: ${this.limit} bytes`,
    );
  }
}

/**
 * Counts the bytes of a document that a stage builds from many others, up to the size limit of documents. mongod allows
 * 100 MB between stages, but one pipeline can have many such stages that all add to the same document.
 */
export class DocumentBudget extends MemoryBudget {
  readonly #code: number;
  readonly #what: string;

  /** @param code the error code beyond the limit @param what the document's name in the message */
  constructor(code: number, what: string) {
    super(what, MAX_DOCUMENT);
    this.#code = code;
    this.#what = what;
  }

  protected override exceeded(): CommandError {
    return new CommandError(this.#code, `${this.#what} exceeds maximum document size: ${MAX_DOCUMENT} bytes`);
  }
}

/** Bytes of memory that a kept value needs in addition to its BSON bytes. */
const PER_VALUE = 12;

/** The bytes that a budget counts for a value kept by itself, not in a document. */
export function keptBytes(value: unknown): number {
  return PER_VALUE + valueBytes(value);
}

/**
 * Estimates the BSON bytes of a value, never too high: strings count as if they were ASCII, and array positions as one
 * digit. The exact size would take longer to compute than decoding the value, and this runs for each document.
 */
function valueBytes(value: unknown): number {
  if (typeof value === 'string') return 5 + value.length;
  if (typeof value !== 'object' || value === null) return value === null ? 0 : 8;
  let bytes = 5;
  if (Array.isArray(value)) {
    for (const each of value) bytes += 3 + valueBytes(each);
    return bytes;
  }
  const doc = asDoc(value);
  if (doc !== undefined) {
    for (const name of Object.keys(doc)) bytes += 2 + name.length + valueBytes(doc[name]);
    return bytes;
  }
  // Read only here, because a plain document may have a field of this name.
  const { _bsontype: type } = value as { _bsontype?: string };
  if (type === 'Int32') return 4;
  if (type === 'Binary') return bytes + (value as Binary).length();
  // Code and regular expressions are rare; the others are numbers, dates and ids.
  return type === 'Code' || type === 'BSONRegExp' ? calculateObjectSize({ value }) : 8;
}
