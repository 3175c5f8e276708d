import type { Scope } from '../domain/scopes.ts';
import { USE_CASES } from '../domain/use-cases.ts';

type Rows = typeof USE_CASES;
type AccessOf<Row> = Row extends { readonly scope: infer Scope }
  ? { readonly scope: Scope }
  : Row extends { readonly person: infer Person }
    ? { readonly person: Person }
    : never;

/** A use case that a scope guards. */
export type ScopedUseCase = {
  [Name in keyof Rows]: Rows[Name] extends { readonly scope: Scope } ? Name : never;
}[keyof Rows];

/** Returns the `authScopes` of a root field: the access of the use case with its name. */
export function accessOf<Name extends keyof Rows>(name: Name): AccessOf<Rows[Name]> {
  const row = USE_CASES[name];
  return ('scope' in row ? { scope: row.scope } : { person: row.person }) as AccessOf<Rows[Name]>;
}
