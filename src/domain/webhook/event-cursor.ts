import { millisecondsOf, orderAt } from '../order-key.ts';

/**
 * The log entries that a client of the stream has received, by their `place` (the sort key of the stream): the highest
 * one, and all within {@link OVERLAP_MS} below it. Several processes assign places before they write the entries, so an
 * entry with a slightly lower place may appear later; the highest place alone would miss it.
 */
export interface KnownPlaces {
  has(place: string): boolean;
  add(place: string): void;
  /** Returns the place from which the log is read so that no entry is missed. */
  readFrom(): string;
  /** This state as text, for a later resumption: 25 characters, and 16 for each recent event. */
  cursor(): string;
}

/** Maximum time after which an entry with a lower place may appear, in milliseconds. */
export const OVERLAP_MS = 5000;
/** Maximum number of places in a cursor. The earlier ones of more recent events are sent twice after a resumption. */
export const CURSOR_PLACES = 64;
/** Number of latest places that are kept in memory, whatever their age: more than can wait for a slow client. */
const KEPT = 600;
/** Maximum number of places in memory. */
const REMEMBERED = 5000;

const CURSOR = /^([0-9a-f]{24})(?:\.((?:[0-9a-f]{16})*))?$/;
/**
 * Hex digits of an entry of the cursor (16): the distance in milliseconds below the highest place (4), then the rest of
 * the place after its milliseconds (12).
 */
const [ENTRY, OFFSET] = [16, 4];
const MILLISECONDS_DIGITS = 12;

/**
 * @param place the highest place, unless one of `places` is higher
 * @param now the present in UNIX milliseconds. A place more than {@link OVERLAP_MS} later was assigned while a clock
 *   was ahead: it is known, but is not the highest one, because those of later events are lower until that time has
 *   come
 */
export function createKnownPlaces(place: string, places: readonly string[], now: () => number): KnownPlaces {
  return new Places(place, places, now);
}

/** A class, not closures: each stream has one. */
class Places implements KnownPlaces {
  #highest: string;
  #known: Set<string>;
  /** Number of known places from which on old ones are dropped. */
  #most = 2 * KEPT;
  readonly #now: () => number;
  /** The places for the cursor: the latest ones, in the order in which they were added. */
  readonly #recent: string[];

  constructor(place: string, places: readonly string[], now: () => number) {
    this.#now = now;
    const past = [place, ...places].filter((each) => this.#mayBeHighest(each));
    this.#highest = past.sort().at(-1) ?? orderAt(now());
    this.#known = new Set(places).add(place).add(this.#highest);
    this.#recent = [...places.slice(-CURSOR_PLACES), this.#highest];
  }

  has(place: string): boolean {
    return this.#known.has(place);
  }

  add(place: string): void {
    this.#known.add(place);
    this.#recent.push(place);
    if (place > this.#highest && this.#mayBeHighest(place)) this.#highest = place;
    if (this.#recent.length > CURSOR_PLACES + 1) this.#recent.shift();
    if (this.#known.size > this.#most) this.#dropOld();
  }

  #mayBeHighest(place: string): boolean {
    return millisecondsOf(place) <= this.#now() + OVERLAP_MS;
  }

  /** Drops all but the latest places and those that the log is read for again. */
  #dropOld(): void {
    const from = this.readFrom();
    const all = [...this.#known].slice(-REMEMBERED / 2);
    this.#known = new Set(all.filter((place, index) => index >= all.length - KEPT || place > from));
    this.#most = 2 * Math.max(KEPT, this.#known.size);
  }

  readFrom(): string {
    return overlapStart(this.#highest);
  }

  cursor(): string {
    const from = overlapStart(this.#highest);
    const top = millisecondsOf(this.#highest);
    let text = `${this.#highest}.`;
    for (const place of this.#recent) {
      // Those above it were assigned while a clock was ahead.
      if (place <= from || place >= this.#highest) continue;
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

/** Returns the lowest place that may still appear after `place` has: {@link OVERLAP_MS} below it. */
export function overlapStart(place: string): string {
  return orderAt(millisecondsOf(place) - OVERLAP_MS);
}
