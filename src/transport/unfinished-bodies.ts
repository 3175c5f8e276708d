import type { Context } from 'koa';
import { MAX_BODY_BYTES } from '../domain/limits.ts';
import { callerOf, sharerOf } from '../domain/principal.ts';
import { limitedAddress } from './client-address.ts';
import type { RequestState } from './state.ts';

const MIB = 1024 * 1024;
/**
 * Limits on the bytes of bodies that are arriving: of all, of a sharer (a tenant, the holders of client_secrets, or
 * callers without a credential), and of a caller (a credential, or an address without one).
 */
const LIMITS = { all: 128 * MIB, sharer: 64 * MIB, caller: 32 * MIB } as const;
/**
 * A body of at most this many bytes is not counted, so that ordinary requests always have place: it takes as much as the
 * headers of its connection may, and connections are limited (http-server.ts).
 */
const UNCOUNTED_BYTES = 16 * 1024;
/** The first block of a body whose length is not known, bytes. */
const FIRST_BLOCK = 4 * 1024;

/** Bodies that are arriving, by who sends them. Counts what they may take, from the headers on if these say how much. */
export class UnfinishedBodies {
  readonly #limits: Readonly<Record<keyof typeof LIMITS, number>>;
  readonly #held = new Map<string, number>();

  constructor(limits: Readonly<Record<keyof typeof LIMITS, number>> = LIMITS) {
    this.#limits = limits;
  }

  /** Counts further bytes. @returns false, and counts nothing, where one of the limits would be exceeded */
  take(sharer: string, caller: string, bytes: number): boolean {
    const counts = this.#counts(sharer, caller);
    if (counts.some(([name, limit]) => (this.#held.get(name) ?? 0) + bytes > limit)) return false;
    for (const [name] of counts) this.#held.set(name, (this.#held.get(name) ?? 0) + bytes);
    return true;
  }

  give(sharer: string, caller: string, bytes: number): void {
    for (const [name] of this.#counts(sharer, caller)) {
      const left = (this.#held.get(name) ?? 0) - bytes;
      if (left > 0) this.#held.set(name, left);
      else this.#held.delete(name);
    }
  }

  /** Bytes that are counted. */
  get bytes(): number {
    return this.#held.get('all') ?? 0;
  }

  #counts(sharer: string, caller: string): readonly (readonly [string, number])[] {
    const { all, sharer: most, caller: own } = this.#limits;
    return [
      ['all', all],
      [`sharer ${sharer}`, most],
      [`caller ${caller}`, own],
    ];
  }
}

/** Those of this process, whose memory they share. */
const unfinished = new UnfinishedBodies();

/**
 * A body that arrives, in one block of memory: each piece by itself would take some hundred bytes more, and a client
 * chooses how small they are.
 */
export class ArrivingBody {
  readonly #ctx: Context;
  readonly #expected: number;
  readonly #bodies: UnfinishedBodies;
  #block: Buffer | null = null;
  #size = 0;
  #counted = 0;

  /** @param expected bytes, as the headers say; 0 if they do not */
  constructor(ctx: Context, expected: number, bodies = unfinished) {
    this.#ctx = ctx;
    this.#expected = expected;
    this.#bodies = bodies;
  }

  /** Counts what is expected. @returns whether there is place */
  admit(): boolean {
    return this.#count(this.#expected);
  }

  /** Takes a piece. @returns whether there was place; nothing of the body is kept otherwise */
  add(piece: Buffer): boolean {
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

  /** What has arrived. */
  bytes(): Buffer {
    return this.#block?.subarray(0, this.#size) ?? Buffer.alloc(0);
  }

  /** Gives up the memory of the body: it is complete and used, or will never be. */
  release(): void {
    this.#block = null;
    if (this.#counted > 0) this.#bodies.give(...this.#sender(), this.#counted);
    this.#counted = 0;
  }

  /** @returns false, and releases everything, if the limits leave no place for a body of this many bytes */
  #count(bytes: number): boolean {
    if (bytes <= UNCOUNTED_BYTES || bytes <= this.#counted) return true;
    if (this.#bodies.take(...this.#sender(), bytes - this.#counted)) {
      this.#counted = bytes;
      return true;
    }
    this.release();
    return false;
  }

  #sender(): readonly [string, string] {
    const { identity } = this.#ctx.state as RequestState;
    if (identity && 'principal' in identity) return [sharerOf(identity.principal), callerOf(identity.principal)];
    return ['', limitedAddress(this.#ctx.ip)];
  }
}
