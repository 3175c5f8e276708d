import type { Doc } from './types.ts';

/** What a pipeline asks of the store: the documents of another collection of its database that match a filter. */
export interface PipelineEnv {
  lookup(collection: string, filter: Doc): Iterable<Doc>;
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
