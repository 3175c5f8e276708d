import fc from 'fast-check';

/**
 * Any code point, including lone surrogates. fast-check's unit 'binary' does the same, but first makes a table of all
 * code points, which takes a second of CPU.
 */
const codePoint = fc.integer({ min: 0, max: 0x10ffff }).map(
  (code) => String.fromCodePoint(code),
  (text) => {
    const code = typeof text === 'string' ? text.codePointAt(0) : undefined;
    if (code === undefined || String.fromCodePoint(code) !== text) throw new Error('not one code point');
    return code;
  },
);

/** A text of any code points, or a word that is dangerous as a name. */
export const anyText = (constraints: { readonly maxLength?: number } = {}): fc.Arbitrary<string> =>
  fc.string({ ...constraints, unit: codePoint });
