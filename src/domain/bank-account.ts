import { z } from 'zod';
import { expected } from './input-problems.ts';

const DIGITS = /^[0-9]{24}$/;

/**
 * Input rule of a Moroccan bank account number (RIB): checks the format only; {@link hasBankAccountKey} checks the key.
 */
export function bankAccountDigits() {
  const what = 'the RIB, a string of 24 digits without spaces';
  return z
    .string({ error: expected(what) })
    .regex(DIGITS, { error: expected(what), abort: true })
    .meta({ pattern: DIGITS.source });
}

/**
 * Whether the check key of a RIB is valid. A RIB has 3 digits for the bank, 3 for the city, 16 for the account and 2
 * for the key, which is 01 to 97 and makes the whole number divisible by 97.
 * @param rib 24 digits
 */
export function hasBankAccountKey(rib: string): boolean {
  const key = Number(rib.slice(-2));
  return BigInt(rib) % 97n === 0n && key >= 1 && key <= 97;
}

/** Groups a RIB for people: `011780000123456789012345` → `011 780 0001234567890123 45`. */
export function spacedBankAccount(rib: string): string {
  return [rib.slice(0, 3), rib.slice(3, 6), rib.slice(6, 22), rib.slice(22)].join(' ');
}
