import { CURRENCY } from '../../domain/money.ts';
import type { ReadElement } from './read-canonical.ts';

/** A document breaks a rule: its message is a sentence about it. */
export class BrokenRule extends Error {}

/** @throws {BrokenRule} unless the condition holds */
export function expect(condition: boolean, message: string): asserts condition {
  if (!condition) throw new BrokenRule(message);
}

/** @throws {BrokenRule} unless two amounts in centimes are the same */
export function expectEqual(what: string, written: bigint, recomputed: bigint): void {
  expect(
    written === recomputed,
    `The document states ${written} centimes for ${what}; the recomputed value is ${recomputed}.`,
  );
}

/**
 * Returns the element at the end of a path of names. Each step must exist exactly once; of several cbc:Note elements
 * the first is taken.
 */
export function one(element: ReadElement, ...path: readonly string[]): ReadElement {
  let found = element;
  for (const step of path) {
    const children = found.children.filter(({ name }) => name === step);
    const [child] = step === 'cbc:Note' ? children : children.length === 1 ? children : [];
    expect(child !== undefined, `${found.name} contains ${children.length} elements ${step}.`);
    found = child;
  }
  return found;
}

/** Returns an optional child element. `check-document.ts` limits it to one occurrence. */
export function optional(element: ReadElement, name: string): ReadElement | null {
  return element.children.find((child) => child.name === name) ?? null;
}

/** Returns the text of the element at the end of a path. */
export function text(element: ReadElement, ...path: readonly string[]): string {
  return one(element, ...path).text;
}

/** Returns an amount in centimes. It must be written in MAD with two decimals. */
export function money(element: ReadElement, ...path: readonly string[]): bigint {
  const { name, text: written, attributes } = one(element, ...path);
  expect(attributes.endsWith(` currencyID="${CURRENCY}"`), `${name} is not in ${CURRENCY}.`);
  expect(/^-?\d+\.\d\d$/.test(written), `${name} is not an amount with two decimals.`);
  return BigInt(written.replace('.', ''));
}

/** Whether a text is a day of the calendar, `YYYY-MM-DD`. */
export function isDay(written: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(written) ?? [];
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return date.getUTCMonth() + 1 === Number(month) && date.getUTCDate() === Number(day);
}
