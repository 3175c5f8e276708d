import { z } from 'zod';
import { expected } from './input-problems.ts';

const DIGITS = /^[0-9]{24}$/;

/** A Moroccan bank account (RIB) by its form alone: {@link hasBankAccountKey} checks the rest. */
export function bankAccountDigits() {
  const what = 'the RIB, a string of 24 digits without spaces';
  return z
    .string({ error: expected(what) })
    .regex(DIGITS, { error: expected(what), abort: true })
    .meta({ pattern: DIGITS.source });
}

/**
 * Whether the check key of a RIB fits. A RIB is 3 digits of the bank, 3 of the place, 16 of the account and 2 of the key, which makes the
 * whole number divisible by 97 and is 01 to 97.
 * @param rib 24 digits
 */
export function hasBankAccountKey(rib: string): boolean {
  const key = Number(rib.slice(-2));
  return BigInt(rib) % 97n === 0n && key >= 1 && key <= 97;
}

/** As people read it: `011780000123456789012345` → `011 780 0001234567890123 45`. */
export function spacedBankAccount(rib: string): string {
  return [rib.slice(0, 3), rib.slice(3, 6), rib.slice(6, 22), rib.slice(22)].join(' ');
}
