import { DOCUMENTS_BUCKET } from './documents.ts';

/**
 * How a cluster stores a collection: spread over its shards by a key, or whole on one shard.
 *
 * - `key`: as `sh.shardCollection` takes it. A statement that contains the key goes to one shard; any other statement
 * goes to every shard.
 * - `whole`: why one shard can hold the collection, however many invoices there are.
 */
export type Placement =
  | { readonly key: Readonly<Record<string, 1 | 'hashed'>> }
  | {
      readonly whole: string;
    };

/** Spreads the documents evenly from the start. For collections whose documents are found by id. */
const BY_ID: Placement = { key: { _id: 'hashed' } };

const FEW_DOCUMENTS: Placement = { whole: 'It has a fixed number of small documents.' };
const BY_TENANTS = 'It grows with the tenants, not with their invoices, and its unique indexes span all tenants.';

/**
 * What `migrate` does with a collection: it moves every document unchanged, or leaves the collection behind for a
 * reason.
 */
type Move = 'moved' | { readonly left: string };

/**
 * What the erasure of a tenant does with the tenant's documents in a collection: it removes them, or keeps them for
 * this reason.
 */
type Erasure = 'erased' | { readonly stays: string };

const NOTHING_OF_TENANTS: Erasure = { stays: 'It has nothing of a tenant.' };

interface CollectionRules {
  /**
   * How a sharded cluster places the collection. It follows MongoDB's rules (docs/decisions/0052): ids that must be
   * unique are the shard key, and a statement that changes one document contains the key.
   * `test/storage/sharding.test.ts` runs every method of the repositories against this. Null if no repository uses the
   * collection.
   */
  readonly placement: Placement | null;
  /**
   * For `migrate` (docs/decisions/0066). Leases stored in moved documents expire by themselves, like those of a process
   * that died.
   */
  readonly move: Move;
  /** For `tenants erase` (docs/decisions/0072). `test/api/tenant-erasure.test.ts` checks it. */
  readonly erasure: Erasure;
}

const LEGAL_DOCUMENTS: Erasure = { stays: 'Signed XML, receipts and cleared documents of live invoices.' };
const OF_INVOICES: CollectionRules = { placement: BY_ID, move: 'moved', erasure: 'erased' };
const OF_PEOPLE: CollectionRules = {
  placement: { whole: 'It grows with the people who sign in, and its unique indexes span all of them.' },
  move: 'moved',
  erasure: 'erased',
};

/** The rules of every collection. A collection without a row fails the tests. */
export const COLLECTIONS: Readonly<Record<string, CollectionRules>> = {
  invoices: OF_INVOICES,
  kept_invoices: {
    placement: BY_ID,
    move: 'moved',
    erasure: { stays: 'The legal documents of live invoices, for the time that the law sets.' },
  },
  invoice_numbers: {
    placement: BY_ID,
    move: 'moved',
    erasure: { stays: 'Those of live invoices, as long as their documents: no number is given twice.' },
  },
  invoice_counts: OF_INVOICES,
  series_turns: {
    placement: BY_ID,
    move: { left: 'Turns last two seconds, and belong to processes.' },
    erasure: { stays: 'Names a series, and expires an hour after its last use.' },
  },
  list_heads: {
    placement: BY_ID,
    move: { left: 'Turns of processes: the next turn at a list begins anew.' },
    erasure: { stays: 'Names a list, and expires a day after its last use.' },
  },
  request_log: OF_INVOICES,
  request_failures: OF_INVOICES,
  audit_log: {
    placement: BY_ID,
    move: 'moved',
    erasure: { stays: 'The entry of the operators that the tenant was erased; its own entries go.' },
  },
  webhook_events: OF_INVOICES,
  // By ranges: the id starts with the UUID of the event, so the deliveries of an event are neighbours.
  webhook_deliveries: { placement: { key: { _id: 1 } }, move: 'moved', erasure: 'erased' },
  webhook_attempts: {
    placement: BY_ID,
    move: 'moved',
    erasure: {
      stays:
        'Those that no delivery names, because a process died or a delivery has newer ones, expire with WEBHOOK_RETENTION.',
    },
  },
  endpoint_hours: OF_INVOICES,
  [`${DOCUMENTS_BUCKET}.files`]: {
    placement: BY_ID,
    move: 'moved',
    erasure: LEGAL_DOCUMENTS,
  },
  // Keeps the chunks of a file on one shard. Hashed, because the ids of files grow with time.
  [`${DOCUMENTS_BUCKET}.chunks`]: {
    placement: { key: { files_id: 'hashed' } },
    move: 'moved',
    erasure: LEGAL_DOCUMENTS,
  },
  logos: OF_INVOICES,
  rate_windows: {
    placement: BY_ID,
    move: { left: 'Windows last minutes, and begin anew.' },
    erasure: { stays: 'Ids of keys, for a minute.' },
  },
  authority_ledger: {
    placement: BY_ID,
    move: 'moved',
    erasure: { stays: 'What the authority decided, as long as the documents.' },
  },
  mock_submissions: OF_INVOICES,
  mock_refusals: OF_INVOICES,
  tenants: {
    placement: { whole: BY_TENANTS },
    move: 'moved',
    erasure: { stays: 'Its id, name and ICE, as long as there are legal documents, which are found by them.' },
  },
  webhook_endpoints: { placement: { whole: BY_TENANTS }, move: 'moved', erasure: 'erased' },
  people: OF_PEOPLE,
  person_sessions: OF_PEOPLE,
  person_passwords: OF_PEOPLE,
  person_resets: OF_PEOPLE,
  person_codes: OF_PEOPLE,
  person_passkeys: OF_PEOPLE,
  person_grants: OF_PEOPLE,
  invitations: OF_PEOPLE,
  jobs: {
    placement: {
      whole: 'Only waits and retries have jobs, and Agenda changes single jobs that it finds by their names.',
    },
    move: { left: 'A job only wakes, and may be locked by a dead process. What is due is found without jobs.' },
    erasure: { stays: 'Ids of invoices and endpoints, until the job runs and finds nothing.' },
  },
  authority_differences: {
    placement: {
      whole:
        'The open differences of each kind are limited, operators acknowledge single ones, and resolved ones expire.',
    },
    move: 'moved',
    erasure: { stays: 'Ids of submissions that operators have to clarify with the authority.' },
  },
  authority_state: { placement: FEW_DOCUMENTS, move: 'moved', erasure: NOTHING_OF_TENANTS },
  authority_reconciliation: { placement: FEW_DOCUMENTS, move: 'moved', erasure: NOTHING_OF_TENANTS },
  claim_members: {
    placement: FEW_DOCUMENTS,
    move: { left: 'Heartbeats of processes.' },
    erasure: NOTHING_OF_TENANTS,
  },
  installation: { placement: FEW_DOCUMENTS, move: 'moved', erasure: 'erased' },
  health: {
    placement: FEW_DOCUMENTS,
    move: { left: 'Only shows that the store can be written to.' },
    erasure: NOTHING_OF_TENANTS,
  },
  data_moves: {
    placement: FEW_DOCUMENTS,
    move: { left: 'Says of a store that its data was moved away, or is still arriving.' },
    erasure: NOTHING_OF_TENANTS,
  },
  agenda_logs: {
    placement: null,
    move: { left: 'Created by Agenda, and empty: no log of jobs is kept.' },
    erasure: NOTHING_OF_TENANTS,
  },
};

/** The placements of the collections that repositories use. */
export const PLACEMENTS: Readonly<Record<string, Placement>> = Object.fromEntries(
  Object.entries(COLLECTIONS).flatMap(([name, { placement }]) => (placement ? [[name, placement]] : [])),
);
