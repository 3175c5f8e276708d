import type { Doc } from './types.ts';

/** The `updateDescription` of MongoDB's change events. */
export interface UpdateDescription {
  updatedFields: Doc;
  removedFields: string[];
  truncatedArrays: { field: string; newSize: number }[];
}

/** The inputs of an update besides the document. */
export interface UpdateContext {
  /** True when an upsert creates the document. */
  insert: boolean;
  /** The index of the array element that the filter matched, for the positional `$`. */
  positional?: number | undefined;
  /** The time for `$currentDate` and `$$NOW`; the current time if absent. */
  now?: Date | undefined;
}

export interface UpdateResult {
  doc: Doc;
  changed: boolean;
  description: UpdateDescription;
}

export type Updater = (doc: Doc, context: UpdateContext) => UpdateResult;

/** The path and document of an operator, for its error messages. */
export interface LeafContext extends UpdateContext {
  path: string;
  doc: Doc;
}

/**
 * What an operator does with the value at its path: undefined for no change, a new value (`appendedFrom` is the index
 * of the first appended array element), or `remove`. A new value equal to the old one is not a change, unless `always`
 * is set.
 */
export type Outcome = { value: unknown; appendedFrom?: number; always?: boolean } | 'remove' | undefined;

/** One operator with its path. */
export interface Modification {
  operator: string;
  path: string;
  parts: string[];
  /** Whether the operator creates a missing value and the documents on the path to it. */
  creates: boolean;
  onInsertOnly: boolean;
  /** The source of a `$rename`, whose `path` is the destination. */
  from?: string;
  apply(current: unknown, context: LeafContext): Outcome;
}

/** Compiles the operand of an operator to a function of the value at its path. */
export interface OperatorDefinition {
  creates: boolean;
  compile(operand: unknown, path: string): (current: unknown, context: LeafContext) => Outcome;
}
