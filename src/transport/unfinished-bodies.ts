import type { Context } from 'koa';
import { MAX_BODY_BYTES } from '../domain/limits.ts';
import { callerOf, isMember, sharerOf } from '../domain/principal.ts';
import { limitedAddress } from './client-address.ts';
import type { RequestState } from './state.ts';

const MIB = 1024 * 1024;
/**
 * A body of at most this many bytes is not counted, so that ordinary requests are never refused. It takes no more
 * memory than the headers of its connection may, and connections are limited (http-server.ts).
 */
const UNCOUNTED_BYTES = 16 * 1024;
/** Size of the first block of a body of unknown length, bytes. */
const FIRST_BLOCK = 4 * 1024;

/** A body that holds memory of a pool. */
interface Holding {
  /** The sharer, by {@link sharerOf}. */
  readonly sharer: string;
  /** The credential, or the client's address if there is none. */
  readonly caller: string;
  /** The bytes that are counted for the body. */
  bytes: number;
  /** Called when the memory of the body is given to another body. */
  readonly drop: () => void;
}

/**
 * A pool of memory, in bytes, for bodies that are arriving. No sharer has a fixed part of it. When the pool is full, a
 * new body displaces the oldest bodies of other sharers that hold more than its own sharer would hold, and of its own
 * sharer the oldest bodies of callers that hold more than its caller would hold. So a sharer without a body is refused
 * only if as many sharers hold one each as the pool has room for. Not a `MemoryBudget`, which admits everything and
 * drops until it fits: a newcomer here displaces nobody who holds less than it would, and nobody at all if that does
 * not suffice.
 */
export class BodyPool {
  readonly #limit: number;
  /** The bodies, oldest first. */
  readonly #holdings = new Set<Holding>();
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts further bytes of a body. @returns false, without a change, if there is no memory for them */
  take(body: Holding, bytes: number): boolean {
    const dropped = this.#placeFor(body, bytes);
    if (dropped === null) return false;
    for (const each of dropped) {
      this.give(each);
      each.drop();
    }
    this.#holdings.add(body);
    body.bytes += bytes;
    this.#bytes += bytes;
    return true;
  }

  /** Returns the memory of a body to the pool. */
  give(body: Holding): void {
    if (!this.#holdings.delete(body)) return;
    this.#bytes -= body.bytes;
    body.bytes = 0;
  }

  /** Number of bytes that are counted. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Selects the bodies to drop for another one; null if dropping them would not suffice. */
  #placeFor(body: Holding, bytes: number): Holding[] | null {
    let missing = this.#bytes + bytes - this.#limit;
    const dropped: Holding[] = [];
    if (missing <= 0) return dropped;
    const [bySharer, byCaller] = [new Map<string, number>(), new Map<string, number>()];
    for (const { sharer, caller, bytes: held } of this.#holdings) {
      bySharer.set(sharer, (bySharer.get(sharer) ?? 0) + held);
      if (sharer === body.sharer) byCaller.set(caller, (byCaller.get(caller) ?? 0) + held);
    }
    for (const each of this.#holdings) {
      if (missing <= 0) break;
      const isOwn = each.sharer === body.sharer;
      const [held, theirs, ours] = isOwn ? [byCaller, each.caller, body.caller] : [bySharer, each.sharer, body.sharer];
      if ((held.get(theirs) ?? 0) <= (held.get(ours) ?? 0) + bytes) continue;
      held.set(theirs, (held.get(theirs) ?? 0) - each.bytes);
      missing -= each.bytes;
      dropped.push(each);
    }
    return missing > 0 ? null : dropped;
  }
}

/** The pools of a process, which share its memory. */
export interface BodyPools {
  /** For secret keys and signed-in people, by tenant. */
  readonly members: BodyPool;
  /**
   * For callers without a secret of their own: client_secrets and publishable keys, which pages contain, and callers
   * without a credential. However many they are, they take no memory from members.
   */
  readonly others: BodyPool;
}

const ofProcess: BodyPools = { members: new BodyPool(96 * MIB), others: new BodyPool(32 * MIB) };

/**
 * A body that arrives, collected in one block of memory. Separate pieces would take some hundred bytes more each, and a
 * client chooses how small they are. If the headers state the length, all of it is counted from the start.
 */
export class ArrivingBody {
  readonly #pool: BodyPool;
  readonly #holding: Holding;
  readonly #expected: number;
  #block: Buffer | null = null;
  #size = 0;
  #hasPlace: boolean;

  /** @param expected the Content-Length, bytes; 0 if there is none */
  constructor(ctx: Context, expected: number, { members, others }: BodyPools = ofProcess) {
    const { identity } = ctx.state as RequestState;
    const principal = identity && 'principal' in identity ? identity.principal : null;
    this.#pool = principal && isMember(principal) ? members : others;
    this.#holding = {
      sharer: principal ? sharerOf(principal) : '',
      caller: principal ? callerOf(principal) : limitedAddress(ctx.ip),
      bytes: 0,
      drop: () => this.refuse(),
    };
    this.#expected = expected;
    this.#hasPlace = this.#count(expected);
  }

  /** Adds a piece. Pieces of a refused body are discarded. */
  add(piece: Buffer): void {
    if (this.#hasPlace && !this.#keep(piece)) this.refuse();
  }

  /** Returns what has arrived; null if the body was refused. */
  bytes(): Buffer | null {
    if (!this.#hasPlace) return null;
    return this.#block?.subarray(0, this.#size) ?? Buffer.alloc(0);
  }

  /** Frees the memory of the body, because it is complete and used, or will never be complete. */
  release(): void {
    this.#block = null;
    this.#pool.give(this.#holding);
  }

  /** Discards the body, including pieces that arrive later. */
  refuse(): void {
    this.#hasPlace = false;
    this.release();
  }

  /** Stores a piece. @returns whether there was memory for it */
  #keep(piece: Buffer): boolean {
    const size = this.#size + piece.length;
    if (this.#block === null) {
      // The first piece is usually the whole body.
      this.#block = piece;
      this.#size = size;
      return this.#count(size);
    }
    if (size > this.#block.length) {
      const more = Math.min(MAX_BODY_BYTES, Math.max(2 * this.#block.length, FIRST_BLOCK));
      const length = size <= this.#expected ? this.#expected : Math.max(size, more);
      if (!this.#count(length)) return false;
      // Not taken from Node's buffer pool, because any small part would keep the whole pool allocated.
      const longer = Buffer.allocUnsafeSlow(length);
      this.#block.copy(longer, 0, 0, this.#size);
      this.#block = longer;
    }
    piece.copy(this.#block, this.#size);
    this.#size = size;
    return true;
  }

  /** Counts the body. @returns whether there is memory for a body of this many bytes */
  #count(bytes: number): boolean {
    const more = bytes - this.#holding.bytes;
    return bytes <= UNCOUNTED_BYTES || more <= 0 || this.#pool.take(this.#holding, more);
  }
}
