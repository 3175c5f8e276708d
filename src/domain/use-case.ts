import type { AuditedChange, AuditFacts, SharedAction } from './audit-entry.ts';
import type { Role } from './person/person.ts';
import type { Member, PersonPrincipal } from './principal.ts';
import type { Scope } from './scopes.ts';

/**
 * A use case is one row: who may call it, what the audit log says of it, and what it does. The row's name is that of
 * its GraphQL field. `src/domain/use-cases.ts` has the table, from which the context of resolvers, their access and the
 * actions of the audit log are made.
 */
export type UseCase =
  | Row<{ readonly scope: Scope }, Member>
  // Before a person changes something, a suspended tenant is refused, too.
  | Row<{ readonly person: Role }, PersonPrincipal>;

/**
 * A row that changes nothing of the account, or one whose changes are recorded: by an action of its own, or by the name
 * of one that operators record, too.
 */
type Row<Access, By> =
  | (Access & { readonly audit?: never; readonly run: Run<Call<By>> })
  | (Access & { readonly audit: SharedAction | AuditedChange; readonly run: Run<Change<By>> });

/**
 * @param needs the ports that the use case needs, by the names that `src/app/use-cases.ts` gives them
 * @param call who calls it
 * @param args its input
 */
type Run<Called> = (needs: never, call: Called, ...args: never[]) => unknown;

/** A call by somebody who has the access. */
export interface Call<By = Member> {
  readonly by: By;
}

/** A call of a use case whose changes are recorded. */
export interface Change<By = Member> extends Call<By> {
  /** Records the change after it was made. Never rejects. */
  record(facts: AuditFacts): Promise<void>;
}
