import type { Context } from 'koa';
import { MAX_BODY_BYTES } from '../domain/limits.ts';
import { callerOf, isMember, sharerOf } from '../domain/principal.ts';
import { limitedAddress } from './client-address.ts';
import type { RequestState } from './state.ts';

const MIB = 1024 * 1024;
/**
 * A body of at most this many bytes is not counted, so that ordinary requests always have place: it takes as much as the
 * headers of its connection may, and connections are limited (http-server.ts).
 */
const UNCOUNTED_BYTES = 16 * 1024;
/** The first block of a body whose length is not known, bytes. */
const FIRST_BLOCK = 4 * 1024;

/** A body that has place in a pool. */
interface Holding {
  /** As {@link sharerOf}. */
  readonly sharer: string;
  /** A credential, or an address without one. */
  readonly caller: string;
  /** What is counted for it. */
  bytes: number;
  /** Told that its place was given to another. */
  readonly drop: () => void;
}

/**
 * Place for bodies that are arriving, bytes. Nobody has a fixed part of it. When it is full, the oldest bodies of those
 * who hold more than the newcomer would hold make place: of other sharers, and within its sharer of other callers. So no
 * number of bodies keeps out a sharer that has none, unless as many sharers as bodies fit hold one each.
 */
export class BodyPool {
  readonly #limit: number;
  /** The oldest first. */
  readonly #holdings = new Set<Holding>();
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts further bytes of a body. @returns false, and changes nothing, where there is no place */
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

  /** Ends the place of a body. */
  give(body: Holding): void {
    if (!this.#holdings.delete(body)) return;
    this.#bytes -= body.bytes;
    body.bytes = 0;
  }

  /** Bytes that are counted. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The bodies that make place; null if they do not suffice. */
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
  /** Secret keys and people, by tenant. */
  readonly members: BodyPool;
  /**
   * Whoever needs no secret: client_secrets and publishable keys, which stand in pages, and callers without a credential.
   * However many they are, they take no place of members.
   */
  readonly others: BodyPool;
}

const ofProcess: BodyPools = { members: new BodyPool(96 * MIB), others: new BodyPool(32 * MIB) };

/**
 * A body that arrives, in one block of memory: each piece by itself would take some hundred bytes more, and a client
 * chooses how small they are. It counts from its headers on, if these say how long it is.
 */
export class ArrivingBody {
  readonly #pool: BodyPool;
  readonly #holding: Holding;
  readonly #expected: number;
  #block: Buffer | null = null;
  #size = 0;
  #hasPlace: boolean;

  /** @param expected bytes, as the headers say; 0 if they do not */
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

  /** Takes a piece. Nothing is kept of a body that has no place, or no longer. */
  add(piece: Buffer): void {
    if (this.#hasPlace && !this.#keep(piece)) this.refuse();
  }

  /** What has arrived; null if there was no place for it. */
  bytes(): Buffer | null {
    if (!this.#hasPlace) return null;
    return this.#block?.subarray(0, this.#size) ?? Buffer.alloc(0);
  }

  /** Gives up the memory of the body: it is complete and used, or will never be. */
  release(): void {
    this.#block = null;
    this.#pool.give(this.#holding);
  }

  /** Keeps nothing of the body, now and later. */
  refuse(): void {
    this.#hasPlace = false;
    this.release();
  }

  /** @returns whether there was place */
  #keep(piece: Buffer): boolean {
    const size = this.#size + piece.length;
    if (this.#block === null) {
      // Mostly the whole body.
      this.#block = piece;
      this.#size = size;
      return this.#count(size);
    }
    if (size > this.#block.length) {
      const more = Math.min(MAX_BODY_BYTES, Math.max(2 * this.#block.length, FIRST_BLOCK));
      const length = size <= this.#expected ? this.#expected : Math.max(size, more);
      if (!this.#count(length)) return false;
      // Not of Node's pool, which its smallest part would keep.
      const longer = Buffer.allocUnsafeSlow(length);
      this.#block.copy(longer, 0, 0, this.#size);
      this.#block = longer;
    }
    piece.copy(this.#block, this.#size);
    this.#size = size;
    return true;
  }

  /** @returns whether there is place for a body of this many bytes */
  #count(bytes: number): boolean {
    const more = bytes - this.#holding.bytes;
    return bytes <= UNCOUNTED_BYTES || more <= 0 || this.#pool.take(this.#holding, more);
  }
}
