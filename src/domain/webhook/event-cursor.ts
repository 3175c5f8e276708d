import { orderAt } from '../order-key.ts';

/**
 * The log entries that a client of the stream has received, by their `place` (the sort key of the stream): the highest
 * one, and all within {@link OVERLAP_MS} below it. Several processes assign places before they write the entries, so an
 * entry with a slightly lower place may appear later; the highest place alone would miss it.
 */
export interface KnownPlaces {
  has(place: string): boolean;
  add(place: string): void;
  /** The place from which the log is read so that no entry is missed. */
  readFrom(): string;
  /** This state as text, for a later resumption: 25 characters, and 16 for each recent event. */
  cursor(): string;
}

/** How much later an entry with a lower place may appear, in milliseconds. */
export const OVERLAP_MS = 5000;
/** Maximum number of places in a cursor. The earlier ones of more recent events are sent twice after a resumption. */
export const CURSOR_PLACES = 64;
/** Maximum number of places in memory: more than can wait for a slow client. */
const REMEMBERED = 5000;

const CURSOR = /^([0-9a-f]{24})(?:\.((?:[0-9a-f]{16})*))?$/;
/**
 * Hex digits of an entry of the cursor (16): the distance in milliseconds below the highest place (4), then the rest of
 * the place after its milliseconds (12).
 */
const [ENTRY, OFFSET] = [16, 4];
const MILLISECONDS_DIGITS = 12;

/** @param place the highest place, unless one of `places` is higher */
export function createKnownPlaces(place: string, places: readonly string[] = []): KnownPlaces {
  return new Places(place, places);
}

/** A class, not closures: each stream has one. */
class Places implements KnownPlaces {
  #highest: string;
  readonly #known: Set<string>;
  /** The places for the cursor: the latest ones, in the order in which they were added. */
  readonly #recent: string[];

  constructor(place: string, places: readonly string[]) {
    this.#highest = places.reduce((one, other) => (one > other ? one : other), place);
    this.#known = new Set(places).add(this.#highest);
    this.#recent = [...places.slice(-CURSOR_PLACES), this.#highest];
  }

  has(place: string): boolean {
    return this.#known.has(place);
  }

  add(place: string): void {
    this.#known.add(place);
    this.#recent.push(place);
    if (place > this.#highest) this.#highest = place;
    if (this.#recent.length > CURSOR_PLACES + 1) this.#recent.shift();
    const [oldest] = this.#known;
    if (this.#known.size > REMEMBERED && oldest !== undefined) this.#known.delete(oldest);
  }

  readFrom(): string {
    return overlapStart(this.#highest);
  }

  cursor(): string {
    const from = overlapStart(this.#highest);
    const top = millisecondsOf(this.#highest);
    let text = `${this.#highest}.`;
    for (const place of this.#recent) {
      if (place <= from || place === this.#highest) continue;
      text += (top - millisecondsOf(place)).toString(16).padStart(OFFSET, '0') + place.slice(MILLISECONDS_DIGITS);
    }
    return text;
  }
}

/** Reads a cursor; `places` is null if the cursor is a single place. @returns null if it is not a cursor */
export function readCursor(text: string): { highest: string; places: string[] | null } | null {
  const [, highest, entries] = CURSOR.exec(text) ?? [];
  if (highest === undefined) return null;
  if (entries === undefined) return { highest, places: null };
  const count = entries.length / ENTRY;
  if (count > CURSOR_PLACES + 1) return null;
  const places = Array.from({ length: count }, (_, i) => {
    const entry = entries.slice(i * ENTRY, (i + 1) * ENTRY);
    const milliseconds = millisecondsOf(highest) - Number.parseInt(entry.slice(0, OFFSET), 16);
    return orderAt(milliseconds).slice(0, MILLISECONDS_DIGITS) + entry.slice(OFFSET);
  });
  return { highest, places };
}

/** The lowest place that may still appear after `place` has: {@link OVERLAP_MS} below it. */
export function overlapStart(place: string): string {
  return orderAt(millisecondsOf(place) - OVERLAP_MS);
}

function millisecondsOf(place: string): number {
  return Number.parseInt(place.slice(0, MILLISECONDS_DIGITS), 16);
}
