import type { Doc } from './types.ts';

/** MongoDB's change-stream `updateDescription`. */
export interface UpdateDescription {
  updatedFields: Doc;
  removedFields: string[];
  truncatedArrays: { field: string; newSize: number }[];
}

/** What one application of an update knows besides the document. */
export interface UpdateContext {
  /** The document is being made by an upsert. */
  insert: boolean;
  /** The array index that the filter matched, for the positional `$`. */
  positional?: number | undefined;
  /** The time for `$currentDate` and `$$NOW`; the clock's when absent. */
  now?: Date | undefined;
}

export interface UpdateResult {
  doc: Doc;
  changed: boolean;
  description: UpdateDescription;
}

export type Updater = (doc: Doc, context: UpdateContext) => UpdateResult;

/** Where a leaf operator stands, for its messages. */
export interface LeafContext extends UpdateContext {
  path: string;
  doc: Doc;
}

/**
 * What a leaf operator makes of the value at its path: nothing, a new value (appended to an array from an index on), or its
 * removal. A value that is the same as before changes nothing, unless it is `always` written.
 */
export type Outcome = { value: unknown; appendedFrom?: number; always?: boolean } | 'remove' | undefined;

/** One operator on one path. */
export interface Modification {
  operator: string;
  path: string;
  parts: string[];
  /** Missing values are made, with the documents on the way. */
  creates: boolean;
  onInsertOnly: boolean;
  /** The source of a `$rename`, whose `path` is the destination. */
  from?: string;
  apply(current: unknown, context: LeafContext): Outcome;
}

/** Reads an operator's operand once and gives what it does to the value at its path. */
export interface OperatorDefinition {
  creates: boolean;
  compile(operand: unknown, path: string): (current: unknown, context: LeafContext) => Outcome;
}
