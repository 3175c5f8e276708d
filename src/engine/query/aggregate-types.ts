import type { Doc } from './types.ts';

/** What a pipeline asks of the store, and what its command gives it. */
export interface PipelineEnv {
  /** The documents of another collection of the same database that match a filter. */
  lookup(collection: string, filter: Doc): Iterable<Doc>;
  /** The values of the command's `let`. */
  variables?: Doc;
  /** `$$NOW`; the clock's time when absent. */
  now?: Date;
}

/** What the stages of one run share. */
export interface Run {
  env: PipelineEnv;
  now: Date;
  variables: Doc;
}

/** A compiled stage. */
export type Stage = (source: Iterable<Doc>, run: Run) => Iterable<Doc>;

/** Compiles a stage's operand; `variables` are the names that its expressions may use. */
export type StageCompiler = (operand: unknown, variables: readonly string[], compile: CompileStages) => Stage;

/** Compiles a list of stages, for the pipelines within stages. */
export type CompileStages = (stages: unknown, variables: readonly string[], owner: string) => Stage;
