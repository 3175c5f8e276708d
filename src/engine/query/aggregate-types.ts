import type { Pausing } from './pause.ts';
import type { Doc } from './types.ts';

/** The environment that a pipeline gets from the command: access to other collections, and variables. */
export interface PipelineEnv {
  /** Queries another collection of the same database. */
  lookup(collection: string, filter: Doc): Pausing<Doc>;
  /** The values of the command's `let`. */
  variables?: Doc;
  /** The value of `$$NOW`; the current time if absent. */
  now?: Date;
}

/** The state shared by the stages of one run. */
export interface Run {
  env: PipelineEnv;
  now: Date;
  variables: Doc;
}

/** A compiled stage. It pauses where its source does, and where it works on many documents without a result. */
export type Stage = (source: Pausing<Doc>, run: Run) => Pausing<Doc>;

/** Compiles the operand of a stage; `variables` are the variable names that its expressions may use. */
export type StageCompiler = (operand: unknown, variables: readonly string[], compile: CompileStages) => Stage;

/** Compiles a list of stages, for pipelines nested in a stage. */
export type CompileStages = (stages: unknown, variables: readonly string[], owner: string) => Stage;
