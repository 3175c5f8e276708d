import type { Problem } from '../../src/domain/authority/ports.ts';
import { type AppendLog, openAppendLog, type Place } from './append-log.ts';

/** The facts of an entry that never change. Times are milliseconds. */
export interface Received {
  readonly id: string;
  /** SHA-256 of the document, hex. */
  readonly digest: string;
  /** The seller's ICE and the invoice's number; null where the document was not read. */
  readonly invoice: { readonly seller: string; readonly number: string } | null;
  /** By the simulator's clock. */
  readonly receivedAt: number;
  /** The problems for which it will be rejected; empty: it will be accepted. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** When the decision is due, by the machine's clock; null: when the control port requests it. */
  readonly dueAt: number | null;
  /** Until when look-ups are not answered, by the machine's clock; 0: they are. */
  readonly silentUntil: number;
}

export interface Decided {
  readonly status: 'accepted' | 'rejected';
  readonly problems: readonly Problem[];
  /** By the simulator's clock. */
  readonly decidedAt: number;
  readonly dgiId: string | null;
}

/** The parts of an entry that the file of documents holds. */
export type Part = 'document' | 'receipt' | 'cleared';

export interface Entry {
  readonly received: Received;
  /** Null while it is being processed. */
  decided: Decided | null;
  /** Position in the order of decisions, from 1; 0 while there is none. */
  position: number;
  readonly places: Partial<Record<Part, Place>>;
  /** Resolves when the entry is on the disk; null once it is. */
  committed: Promise<void> | null;
}

/**
 * The authority's ledger: one entry for each submission, on the disk before it is answered, never changed and never
 * forgotten. Documents are in a file; an entry takes about a kilobyte of memory.
 */
export interface Ledger {
  /** Also contains entries that are not on the disk yet: await `committed` before answering with them. */
  readonly byId: ReadonlyMap<string, Entry>;
  readonly byDigest: ReadonlyMap<string, Entry>;
  readonly byDgiId: ReadonlyMap<string, Entry>;
  /** Returns the entry of an invoice's number. */
  ofInvoice(invoice: { readonly seller: string; readonly number: string }): Entry | undefined;
  /** In the order in which they were taken. */
  readonly decisions: readonly Entry[];
  /** Adds an entry, whose id, digest and invoice must not be held. With a decision, both are one write. */
  receive(received: Received, document: Uint8Array, decided?: Decided): Promise<Entry>;
  /** Records the decision. The entry shows it when it is on the disk. Does nothing when there is one. */
  decide(entry: Entry, decided: Decided): Promise<void>;
  /** Stores a document that was made from the entry. */
  keep(entry: Entry, part: Part, bytes: Uint8Array): Promise<void>;
  /** Returns null when there is none. */
  read(entry: Entry, part: Part): Promise<Buffer | null>;
  /** Ids and digests of which more than one entry was ever written; there should be none. */
  doubled(): readonly string[];
  /** Counts a refused submission durably. @returns the number of refusals of this submission */
  countRefusal(id: string): Promise<number>;
  close(): Promise<void>;
}

/** A line of the file. */
export type LedgerRecord =
  | ({ readonly k: 'received'; readonly at: Place; readonly decided?: Decided } & Received)
  | ({ readonly k: 'decided'; readonly id: string } & Decided)
  | { readonly k: 'kept'; readonly id: string; readonly part: Part; readonly at: Place }
  | { readonly k: 'refused'; readonly id: string };

/** Opens the ledger of a folder, which one simulator may use at a time. */
export async function openLedger(folder: string): Promise<Ledger> {
  const byId = new Map<string, Entry>();
  const byDigest = new Map<string, Entry>();
  const byDgiId = new Map<string, Entry>();
  const byInvoice = new Map<string, Entry>();
  const refusals = new Map<string, number>();
  const decisions: Entry[] = [];
  const doubled = new Set<string>();
  const deciding = new Set<Entry>();

  function add(received: Received, at: Place): Entry {
    if (byId.has(received.id)) doubled.add(received.id);
    if (byDigest.has(received.digest)) doubled.add(received.digest);
    const entry: Entry = { received, decided: null, position: 0, places: { document: at }, committed: null };
    byId.set(received.id, entry);
    byDigest.set(received.digest, entry);
    if (received.invoice !== null) byInvoice.set(keyOf(received.invoice), entry);
    return entry;
  }

  function settle(entry: Entry, decided: Decided): void {
    entry.decided = decided;
    entry.position = decisions.push(entry);
    if (decided.dgiId !== null) byDgiId.set(decided.dgiId, entry);
  }

  function countOne(id: string): number {
    const count = (refusals.get(id) ?? 0) + 1;
    refusals.set(id, count);
    return count;
  }

  function replay(record: unknown): void {
    const line = record as LedgerRecord;
    const entry = byId.get(line.id);
    if (line.k === 'received') {
      const { k: _kind, at, decided, ...received } = line;
      const added = add(received, at);
      if (decided !== undefined) settle(added, decided);
    } else if (line.k === 'refused') countOne(line.id);
    else if (entry === undefined) throw new Error(`The ledger speaks of ${line.id}, which it does not hold.`);
    else if (line.k === 'kept') entry.places[line.part] = line.at;
    else {
      const { k: _kind, id: _id, ...decided } = line;
      settle(entry, decided);
    }
  }

  const log: AppendLog = await openAppendLog(folder, replay);
  const write = (record: LedgerRecord, document?: Uint8Array) =>
    log.append([record], document === undefined ? [] : [document]);

  return {
    byId,
    byDigest,
    byDgiId,
    ofInvoice: (invoice) => byInvoice.get(keyOf(invoice)),
    decisions,
    async receive(received, document, decided) {
      const at = log.place(document.length);
      const entry = add(received, at);
      entry.committed = write({ k: 'received', ...received, at, ...(decided && { decided }) }, document);
      await entry.committed;
      entry.committed = null;
      if (decided !== undefined) settle(entry, decided);
      return entry;
    },
    async decide(entry, decided) {
      if (entry.decided !== null || deciding.has(entry)) return;
      deciding.add(entry);
      try {
        await entry.committed;
        await write({ k: 'decided', id: entry.received.id, ...decided });
        settle(entry, decided);
      } finally {
        deciding.delete(entry);
      }
    },
    async keep(entry, part, bytes) {
      const at = log.place(bytes.length);
      await write({ k: 'kept', id: entry.received.id, part, at }, bytes);
      entry.places[part] = at;
    },
    async read(entry, part) {
      const place = entry.places[part];
      return place === undefined ? null : log.read(place);
    },
    doubled: () => [...doubled],
    async countRefusal(id) {
      const count = countOne(id);
      await write({ k: 'refused', id });
      return count;
    },
    close: log.close,
  };
}

function keyOf({ seller, number }: { readonly seller: string; readonly number: string }): string {
  return `${seller} ${number}`;
}
