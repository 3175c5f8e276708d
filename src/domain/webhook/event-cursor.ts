import { orderAt } from '../order-key.ts';

/**
 * What a follower of the log knows: the highest place, and every place a little below it. Places are given by several processes before
 * they are written, so that one a little lower may appear a little later; by the highest alone it would be missed.
 */
export interface Known {
  has(place: string): boolean;
  add(place: string): void;
  /** From where on the log is read so that nothing is missed. */
  readFrom(): string;
  /** All of it as text, to go on from later: 25 characters, and 16 for each event of the last seconds. */
  cursor(): string;
}

/** How much later a lower place may appear, milliseconds. */
export const OVERLAP_MS = 5000;
/** Places that a cursor holds: of more events within {@link OVERLAP_MS} the earlier ones come twice after a resumption. */
export const CURSOR_PLACES = 64;
/** Places in memory: more than can wait for a client that is behind. */
const REMEMBERED = 5000;

const CURSOR = /^([0-9a-f]{24})(?:\.((?:[0-9a-f]{16})*))?$/;
/** An entry: milliseconds below the highest, 4 hex digits; what follows the milliseconds in a place, 12. */
const [ENTRY, OFFSET] = [16, 4];
const MILLISECONDS_DIGITS = 12;

/** @param place the highest, unless there is a higher one among `places` */
export function createKnown(place: string, places: readonly string[] = []): Known {
  let highest = places.reduce((one, other) => (one > other ? one : other), place);
  const known = new Set(places).add(highest);
  /** For the cursor: the last ones, in the order in which they became known. */
  const recent = [...places.slice(-CURSOR_PLACES), highest];
  return {
    has: (place) => known.has(place),
    add(place) {
      known.add(place);
      recent.push(place);
      if (place > highest) highest = place;
      if (recent.length > CURSOR_PLACES + 1) recent.shift();
      const [oldest] = known;
      if (known.size > REMEMBERED && oldest !== undefined) known.delete(oldest);
    },
    readFrom: () => before(highest),
    cursor() {
      const from = before(highest);
      const top = millisecondsOf(highest);
      let text = `${highest}.`;
      for (const place of recent) {
        if (place <= from || place === highest) continue;
        text += (top - millisecondsOf(place)).toString(16).padStart(OFFSET, '0') + place.slice(MILLISECONDS_DIGITS);
      }
      return text;
    },
  };
}

/** Reads a cursor; `places` is null when it is a place alone. @returns null for what is no cursor */
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

/** The lowest place of an instant before that of another one, as far as places may appear late. */
export function before(place: string): string {
  return orderAt(millisecondsOf(place) - OVERLAP_MS);
}

function millisecondsOf(place: string): number {
  return Number.parseInt(place.slice(0, MILLISECONDS_DIGITS), 16);
}
