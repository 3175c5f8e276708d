import { DOCUMENTS_BUCKET } from './documents.ts';

/**
 * How a cluster holds a collection: spread over its shards by a key, or whole on one shard.
 *
 * - `key`: as `sh.shardCollection` takes it. A statement with the key goes to the shard of its document, one without it
 *   to every shard.
 * - `whole`: why one shard carries it, however many invoices there are.
 */
export type Placement =
  | { readonly key: Readonly<Record<string, 1 | 'hashed'>> }
  | {
      readonly whole: string;
    };

/** Spread evenly from the start. For collections that are found by their ids. */
const BY_ID: Placement = { key: { _id: 'hashed' } };

const FEW_DOCUMENTS = 'It has a fixed number of small documents.';
const BY_PEOPLE = 'It grows with the people who sign in, and its unique indexes span all of them.';
const BY_TENANTS = 'It grows with the tenants, not with their invoices, and its unique indexes span all tenants.';

/**
 * The placement of every collection, with MongoDB's rules for sharded ones kept (docs/decisions/0052): the ids that
 * must be unique are the shard key, and a statement that changes one document has it. `test/storage/sharding.test.ts`
 * runs every method of the repositories against this table.
 */
export const PLACEMENTS: Readonly<Record<string, Placement>> = {
  invoices: BY_ID,
  kept_invoices: BY_ID,
  invoice_numbers: BY_ID,
  invoice_counts: BY_ID,
  series_turns: BY_ID,
  request_log: BY_ID,
  request_failures: BY_ID,
  audit_log: BY_ID,
  earlier_idempotency_keys: BY_ID,
  webhook_events: BY_ID,
  // By ranges, because the id starts with the UUID of the event, so that an event's deliveries are next to each other.
  webhook_deliveries: { key: { _id: 1 } },
  webhook_attempts: BY_ID,
  endpoint_hours: BY_ID,
  [`${DOCUMENTS_BUCKET}.files`]: BY_ID,
  // The chunks of a file are together. Hashed, because the ids of files grow with time.
  [`${DOCUMENTS_BUCKET}.chunks`]: { key: { files_id: 'hashed' } },
  logos: BY_ID,
  rate_windows: BY_ID,
  authority_ledger: BY_ID,
  mock_submissions: BY_ID,
  mock_refusals: BY_ID,

  tenants: { whole: BY_TENANTS },
  webhook_endpoints: { whole: BY_TENANTS },
  people: { whole: BY_PEOPLE },
  person_sessions: { whole: BY_PEOPLE },
  person_passwords: { whole: BY_PEOPLE },
  person_resets: { whole: BY_PEOPLE },
  person_codes: { whole: BY_PEOPLE },
  person_passkeys: { whole: BY_PEOPLE },
  person_grants: { whole: BY_PEOPLE },
  invitations: { whole: BY_PEOPLE },
  jobs: { whole: 'Only waits and retries have jobs, and Agenda changes single jobs that it finds by their names.' },
  authority_differences: { whole: 'The open differences of each kind are limited, and resolved ones expire.' },
  authority_state: { whole: FEW_DOCUMENTS },
  authority_reconciliation: { whole: FEW_DOCUMENTS },
  claim_members: { whole: FEW_DOCUMENTS },
  installation: { whole: FEW_DOCUMENTS },
  health: { whole: FEW_DOCUMENTS },
  data_moves: { whole: FEW_DOCUMENTS },
};

/** What `migrate` does with a collection: it moves every document as it is, or leaves the collection for this reason. */
export type Move = 'moved' | { readonly left: string };

/**
 * The rule of every collection for `migrate` (docs/decisions/0066). Leases inside of documents that are moved end by
 * themselves, as those of a dead process do.
 */
export const MOVES: Readonly<Record<string, Move>> = {
  invoices: 'moved',
  kept_invoices: 'moved',
  invoice_numbers: 'moved',
  invoice_counts: 'moved',
  series_turns: { left: 'Turns last two seconds, and belong to processes.' },
  request_log: 'moved',
  request_failures: 'moved',
  audit_log: 'moved',
  earlier_idempotency_keys: 'moved',
  webhook_events: 'moved',
  webhook_deliveries: 'moved',
  webhook_attempts: 'moved',
  endpoint_hours: 'moved',
  [`${DOCUMENTS_BUCKET}.files`]: 'moved',
  [`${DOCUMENTS_BUCKET}.chunks`]: 'moved',
  logos: 'moved',
  rate_windows: { left: 'Windows last minutes, and begin anew.' },
  authority_ledger: 'moved',
  mock_submissions: 'moved',
  mock_refusals: 'moved',
  tenants: 'moved',
  webhook_endpoints: 'moved',
  people: 'moved',
  person_sessions: 'moved',
  person_passwords: 'moved',
  person_resets: 'moved',
  person_codes: 'moved',
  person_passkeys: 'moved',
  person_grants: 'moved',
  invitations: 'moved',
  jobs: { left: 'A job only wakes, and may be locked by a dead process. What is due is found without jobs.' },
  agenda_logs: { left: 'Created by Agenda, and empty: no log of jobs is kept.' },
  authority_differences: 'moved',
  authority_state: 'moved',
  authority_reconciliation: 'moved',
  claim_members: { left: 'Heartbeats of processes.' },
  installation: 'moved',
  health: { left: 'Only shows that the store can be written to.' },
  data_moves: { left: 'Says of a store that its data was moved away, or is still arriving.' },
};

/**
 * What becomes of a tenant's documents in a collection when the tenant is erased: they are removed, or they stay for
 * this reason.
 */
export type Rest = 'erased' | { readonly stays: string };

const NOTHING_OF_TENANTS: Rest = { stays: 'It has nothing of a tenant.' };
/** The rule of every collection for `tenants erase` (docs/decisions/0072). */
export const RESTS: Readonly<Record<string, Rest>> = {
  invoices: 'erased',
  kept_invoices: { stays: 'The legal documents of live invoices, for the time that the law sets.' },
  invoice_numbers: { stays: 'Those of live invoices, as long as their documents: no number is given twice.' },
  invoice_counts: 'erased',
  series_turns: { stays: 'Names a series, and expires an hour after its last use.' },
  request_log: 'erased',
  request_failures: 'erased',
  audit_log: { stays: 'The entry of the operators that the tenant was erased; its own entries go.' },
  earlier_idempotency_keys: { stays: 'Two ids that lead nowhere any more.' },
  webhook_events: 'erased',
  webhook_deliveries: 'erased',
  webhook_attempts: {
    stays:
      'Those that no delivery names, because a process died or a delivery has newer ones, expire with WEBHOOK_RETENTION.',
  },
  endpoint_hours: 'erased',
  [`${DOCUMENTS_BUCKET}.files`]: { stays: 'Signed XML, receipts and cleared documents of live invoices.' },
  [`${DOCUMENTS_BUCKET}.chunks`]: { stays: 'Signed XML, receipts and cleared documents of live invoices.' },
  logos: 'erased',
  rate_windows: { stays: 'Ids of keys, for a minute.' },
  authority_ledger: { stays: 'What the authority decided, as long as the documents.' },
  mock_submissions: 'erased',
  mock_refusals: 'erased',
  tenants: { stays: 'Its id, name and ICE, as long as there are legal documents, which are found by them.' },
  webhook_endpoints: 'erased',
  people: 'erased',
  person_sessions: 'erased',
  person_passwords: 'erased',
  person_resets: 'erased',
  person_codes: 'erased',
  person_passkeys: 'erased',
  person_grants: 'erased',
  invitations: 'erased',
  jobs: { stays: 'Ids of invoices and endpoints, until the job runs and finds nothing.' },
  agenda_logs: NOTHING_OF_TENANTS,
  authority_differences: { stays: 'Ids of submissions that operators have to clarify with the authority.' },
  authority_state: NOTHING_OF_TENANTS,
  authority_reconciliation: NOTHING_OF_TENANTS,
  claim_members: NOTHING_OF_TENANTS,
  installation: NOTHING_OF_TENANTS,
  health: NOTHING_OF_TENANTS,
  data_moves: NOTHING_OF_TENANTS,
};
