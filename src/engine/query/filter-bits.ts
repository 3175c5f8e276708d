import { CommandError } from '../errors.ts';
import { binaryParts } from './compare.ts';
import { isNumber } from './numbers.ts';
import { RANK, typeRank, wholeNumber } from './types.ts';

/**
 * Parses the operand of a `$bits…` operator to bit positions. It is a whole number >= 0, a Binary (least significant
 * byte first), or a list of positions.
 */
export function parseBits(name: string, mask: unknown): number[] {
  if (Array.isArray(mask)) {
    return mask.map((entry) => {
      const position = isNumber(entry) ? wholeNumber(entry) : undefined;
      if (position === undefined) {
        throw new CommandError('BadValue', `Failed to parse bit position. Expected an integer in: ${name}`);
      }
      if (position < 0n || position > 0x7fffffffn) {
        throw new CommandError('BadValue', `Failed to parse bit position. Expected a non-negative number in: ${name}`);
      }
      return Number(position);
    });
  }
  if (isNumber(mask)) {
    const number = wholeNumber(mask);
    if (number === undefined) throw new CommandError('FailedToParse', `Expected an integer: ${name}`);
    if (number < 0n) throw new CommandError('FailedToParse', `Expected a non-negative number in: ${name}`);
    return positionsWhere((position) => ((number >> BigInt(position)) & 1n) === 1n, 63);
  }
  if (typeRank(mask) === RANK.binary) {
    const { bytes } = binaryParts(mask);
    return positionsWhere((position) => bitOfBytes(bytes, position), bytes.length * 8);
  }
  throw new CommandError('BadValue', `${name} takes an Array, a number, or a BinData but received: ${String(mask)}`);
}

function positionsWhere(isSet: (position: number) => boolean, count: number): number[] {
  return Array.from({ length: count }, (_, position) => position).filter(isSet);
}

function bitOfBytes(bytes: Uint8Array, position: number): boolean {
  const byte = bytes[position >> 3];
  return byte !== undefined && ((byte >> (position & 7)) & 1) === 1;
}

/**
 * Returns a function that reads single bits of a number (two's complement with unlimited sign extension) or a Binary;
 * undefined for other values.
 */
export function bitReader(value: unknown): ((position: number) => boolean) | undefined {
  if (isNumber(value)) {
    const number = wholeNumber(value);
    return number === undefined ? undefined : (position) => ((number >> BigInt(position)) & 1n) === 1n;
  }
  if (typeRank(value) !== RANK.binary) return undefined;
  const { bytes } = binaryParts(value);
  return (position) => bitOfBytes(bytes, position);
}
