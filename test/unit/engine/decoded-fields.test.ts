import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compileFields, decodeDocument, encodeDocument } from '../../../src/engine/wire/bson.ts';
import { sampled } from '../../support/samples.ts';
import { doc } from './arbitraries.ts';

it('decodes some fields of a document as the whole document has them', () => {
  fc.assert(
    fc.property(
      doc.chain((whole) =>
        fc.record({
          whole: fc.constant(whole),
          names: fc.uniqueArray(fc.oneof(fc.constantFrom('a', 'aa', '', ...Object.keys(whole)), fc.string())),
        }),
      ),
      ({ whole, names }) => {
        const bytes = encodeDocument(whole);
        const fields = Object.entries(decodeDocument(bytes)).filter(([name]) => names.includes(name));
        expect(compileFields(names)(bytes)).toEqual(Object.fromEntries(fields));
      },
    ),
    { numRuns: sampled(2000) },
  );
});

it.each([
  ['a name without an end', [10, 97, 97, 97]],
  ['a value without an end', [16, 97, 0, 1]],
  ['a length beyond the end', [2, 97, 0, 255, 255, 0, 0]],
])('refuses %s', (_, body) => {
  const bytes = Buffer.from([body.length + 5, 0, 0, 0, ...body, 0]);
  expect(() => compileFields(['a'])(bytes)).toThrow(expect.objectContaining({ code: 22 }));
});
