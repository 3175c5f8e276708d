import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SIGNATURE_PLACE, writeCanonical } from '../../../src/adapters/ubl/canonical-xml.ts';
import { InvalidDocument } from '../../../src/domain/invoice/ports.ts';

const NAMESPACES = { '': 'urn:root', a: 'urn:a', b: 'urn:b' };
const leaf = (content: string, attributes = {}) =>
  writeCanonical({ name: 'Root', content: [{ name: 'a:Leaf', attributes, content }] }, NAMESPACES).xml;

describe('writeCanonical', () => {
  test('declares a namespace where it is first used, again in siblings, never in descendants', () => {
    const { xml } = writeCanonical(
      {
        name: 'Root',
        content: [
          { name: 'a:One', content: [{ name: 'a:Two', content: [{ name: 'b:Three', content: 'x' }] }] },
          { name: 'a:Four', content: [{ name: 'Five', content: 'y' }] },
        ],
      },
      NAMESPACES,
    );
    expect(xml).toBe(
      '<Root xmlns="urn:root"><a:One xmlns:a="urn:a"><a:Two><b:Three xmlns:b="urn:b">x</b:Three></a:Two></a:One>' +
        '<a:Four xmlns:a="urn:a"><Five>y</Five></a:Four></Root>',
    );
  });

  test('escapes as Canonical XML does, differently in text and in attributes', () => {
    expect(leaf('a & b < c > d "e" \'f\'\tg\nh')).toContain('>a &amp; b &lt; c &gt; d "e" \'f\'\tg\nh</a:Leaf>');
    expect(leaf('x', { z: '& < > "', y: "'a'\tb\n  c" })).toContain(
      ' y="\'a\' b c" z="&amp; &lt; > &quot;">x</a:Leaf>',
    );
  });

  test('replaces every line end by LF, so that parsers read the signed text', () => {
    expect(leaf('a\r\nb\rc\u0085d\u2028e\r\u0085f')).toContain('>a\nb\nc\nd\ne\nf</a:Leaf>');
  });

  test('refuses characters that XML does not allow, and names them', () => {
    for (const [text, code] of [
      ['a\u0000b', 'U+0000'],
      ['\u001b[2J', 'U+001B'],
      ['lone \ud83d surrogate', 'U+D83D'],
      ['\ufffe', 'U+FFFE'],
    ] as const) {
      expect(() => leaf(text)).toThrow(new InvalidDocument(`a:Leaf contains ${code}, which XML does not allow.`));
      expect(() => leaf('x', { name: text })).toThrow(InvalidDocument);
    }
    expect(leaf('😀 و \u{10FFFF}')).toContain('😀 و \u{10FFFF}');
  });

  test('refuses empty elements and prefixes without a namespace', () => {
    for (const blank of ['', ' ', '\n\t', '\u2028']) expect(() => leaf(blank)).toThrow(/must not be empty/);
    expect(() => writeCanonical({ name: 'Root', content: [] }, NAMESPACES)).toThrow(/must not be empty/);
    expect(() => writeCanonical({ name: 'c:Root', content: 'x' }, NAMESPACES)).toThrow(/has no namespace/);
  });

  test('returns the place of the signature in UTF-16 code units', () => {
    const { xml, signatureAt } = writeCanonical(
      { name: 'Root', content: [{ name: 'a:Leaf', content: '😀' }, SIGNATURE_PLACE] },
      NAMESPACES,
    );
    expect(xml.slice(signatureAt)).toBe('</Root>');
  });

  test('the fast path for plain text writes the same as escaping', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab& <>"\'-=;?~!\t\n é'), minLength: 1 }), (text) => {
        fc.pre(text.trim() !== '');
        const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
        expect(leaf(text)).toContain(`>${escaped}</a:Leaf>`);
      }),
    );
  });
});
