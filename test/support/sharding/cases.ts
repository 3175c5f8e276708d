/**
 * A call that sends only statements with a shard key, or a call that scatters, with the reason why that is acceptable.
 */
export type Case = (() => Promise<unknown>) | Scattering | typeof SENDS_NOTHING;

export const SENDS_NOTHING = 'sends nothing';

export interface Scattering {
  readonly call: () => Promise<unknown>;
  /** The statements that go to every shard, see `Routed`. */
  readonly scatters: readonly string[];
  readonly because: string;
}

/** Cases for every method of a port. The compiler and the test report a missing method. */
export type CasesOf<Port> = { readonly [Method in keyof Port]: Case | readonly Case[] };

/** A repository with the cases of all its methods. */
export interface Subject {
  readonly repository: object;
  readonly cases: Readonly<Record<string, Case | readonly Case[]>>;
}

export function subject<Port extends object>(repository: Port, cases: CasesOf<Port>): Subject {
  return { repository, cases };
}

/** The owner of the data that the cases store. */
export const OWNER = { tenantId: 'ten_shard', environment: 'test' } as const;
export const LEASE_MS = 60_000;

/** Reads an iteration to its end. */
export async function drained(iteration: AsyncIterable<unknown>): Promise<void> {
  for await (const _each of iteration);
}

/** Waits for the failure that the case is about. */
export async function failing(call: Promise<unknown>, name: string): Promise<void> {
  const failure = await call.then(
    () => null,
    (error: Error) => error.name,
  );
  if (failure !== name) throw new Error(`${name} was expected, and not ${failure}`);
}
