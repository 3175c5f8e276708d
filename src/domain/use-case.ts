import type { AuditedChange, AuditFacts, AuditPlace, Operator, SharedAction } from './audit-entry.ts';
import type { Role } from './person/person.ts';
import type { Member, PersonPrincipal } from './principal.ts';
import type { Scope } from './scopes.ts';

/**
 * A use case is one row: its access, its description in the audit log, and its function. The row has the name of its
 * GraphQL field. `src/domain/use-cases.ts` has the table, from which the context of resolvers, their access and the
 * actions of the audit log are made.
 */
export type UseCase =
  | Row<{ readonly scope: Scope }, Member>
  // Before a person changes something, a suspended tenant is refused, too.
  | Row<{ readonly person: Role }, PersonPrincipal>;

/**
 * A row that changes nothing of the account, or a row whose changes are recorded: by its own action, or by the name of
 * an action that operators record, too.
 */
type Row<Access, By> =
  | (Access & { readonly audit?: never; readonly run: Run<Call<By>> })
  | (Access & { readonly audit: SharedAction | AuditedChange; readonly run: Run<Change<By>> });

/**
 * A use case of operators, who may do everything: what the audit log says of it, and what it does. Its callers, the
 * pages of operators and the commands, let nobody else in. `src/domain/operator-use-cases.ts` has the table.
 */
export type OperatorUseCase =
  | { readonly audit?: never; readonly run: Run<OperatorCall> }
  | { readonly audit: SharedAction; readonly run: Run<OperatorChange> };

/**
 * @param needs the ports that the use case needs, by the names that `src/app/use-cases.ts` gives them
 * @param call the caller
 * @param args its input
 */
type Run<Called> = (needs: never, call: Called, ...args: never[]) => unknown;

/** A call by a caller with the required access. */
export interface Call<By = Member> {
  readonly by: By;
}

/** A call of a use case whose changes are recorded. */
export interface Change<By = Member> extends Call<By> {
  /** Records the change after it was made. Never rejects. */
  record(facts: AuditFacts): Promise<void>;
}

/** A call by an operator. */
export interface OperatorCall {
  /** Null: at a terminal of the machine. */
  readonly by: Operator | null;
}

/** A call of a use case of operators whose changes are recorded. */
export interface OperatorChange extends OperatorCall {
  /** Records the change after it was made, in the log of `place`. Never rejects. */
  record(place: AuditPlace, facts: AuditFacts): Promise<void>;
}

type Table = Readonly<Record<string, UseCase | OperatorUseCase>>;
type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** The ports that the use cases of a table need together. */
export type NeedsOf<Rows extends Table> = Intersection<Parameters<Rows[keyof Rows]['run']>[0]>;

/** The use cases of a table as functions of the caller and the input. */
export type CallableBy<Caller, Rows extends Table> = {
  readonly [Name in keyof Rows]: Rows[Name]['run'] extends (
    needs: never,
    call: never,
    ...args: infer Args
  ) => infer Result
    ? (caller: Caller, ...args: Args) => Result
    : never;
};
