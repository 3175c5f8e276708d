import fc from 'fast-check';

/** Any code point, lone surrogates among them. fast-check's unit 'binary' is the same, and makes a table of them all first: a second of CPU. */
const codePoint = fc.integer({ min: 0, max: 0x10ffff }).map(
  (code) => String.fromCodePoint(code),
  (text) => {
    const code = typeof text === 'string' ? text.codePointAt(0) : undefined;
    if (code === undefined || String.fromCodePoint(code) !== text) throw new Error('not one code point');
    return code;
  },
);

/** Text of any code points, and words that are dangerous as names. */
export const anyText = (constraints: { readonly maxLength?: number } = {}): fc.Arbitrary<string> =>
  fc.string({ ...constraints, unit: codePoint });
