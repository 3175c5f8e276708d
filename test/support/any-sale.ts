import fc from 'fast-check';
import { anyDocument, anyLine } from './any-line.ts';
import { wholeOf } from './recompute-document.ts';

type Line = typeof anyLine extends fc.Arbitrary<infer Value> ? Value : never;

/** A fraction from 0 to 1. */
const part = fc.oneof(fc.constant(1), fc.constant(0), fc.double({ min: 0, max: 1, noNaN: true }));

/** The earlier takers of shares of a deposit: a credit note of a part of each rate, or another final invoice. */
const anyTaking = fc.oneof(
  fc.record({ kind: fc.constant('credit' as const), part, fate: fc.constantFrom('counts', 'rejected', 'lost') }),
  fc.record({ kind: fc.constant('final' as const), fate: fc.constantFrom('rejected', 'credited', 'lost', 'refused') }),
);

/** A document with or without a discount and a charge of the whole, of these lines. */
const anyWhole = (lines: fc.Arbitrary<readonly Line[]>) =>
  fc.oneof(
    { weight: 2, arbitrary: lines.map((lines) => ({ lines, discount: null, charge: null })) },
    // Deposits with a charge, and sales with a discount, often make the deposits exceed the sale.
    { weight: 1, arbitrary: anyDocument(lines, wholeOf) },
  );

const deposits = fc.array(
  fc.record({
    document: anyWhole(fc.array(anyLine, { minLength: 1, maxLength: 3, size: 'max' })),
    /** The amount less the total with tax. */
    rounding: fc.constantFrom(0, 0, -1, 1),
    history: fc.array(anyTaking, { maxLength: 3, size: 'max' }),
  }),
  { minLength: 1, maxLength: 4, size: 'max' },
);

/** A sale that contains at least the lines of its deposits, so that most deposits can be deducted. */
export const anySale = deposits.chain((deposits) => {
  const paid = deposits.flatMap(({ document }) => document.lines);
  const lines = fc.array(anyLine, { maxLength: 6, size: 'max' }).map((others) => [...others, ...paid]);
  return anyWhole(lines).map((sale) => ({ deposits, sale }));
});

export type Sale = typeof anySale extends fc.Arbitrary<infer Value> ? Value : never;
export type Deposit = Sale['deposits'][number];
