import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readXml } from '../../../src/adapters/authority/mock/read-xml.ts';

describe('readXml', () => {
  test('resolves namespaces, references and quotes of any form', () => {
    const root = readXml(
      `\uFEFF<?xml version="1.0"?>\n<p:a xmlns:p='urn:1' xmlns="urn:2">x<b q="1 &lt; &quot;2&quot;"  r='>'/>&#233;&#x1F600;<c xmlns="">a&amp;amp;\r\nb</c ></p:a>\n`,
    );
    expect(root).toMatchObject({
      uri: 'urn:1',
      name: 'a',
      text: 'xé😀',
      children: [
        { uri: 'urn:2', name: 'b', attributes: { q: '1 < "2"', r: '>' }, text: '', children: [] },
        { uri: '', name: 'c', text: 'a&amp;\nb' },
      ],
    });
  });

  test.each([
    '',
    'text',
    '<a>',
    '</a>',
    '<a></b>',
    '<a></a><b></b>',
    '<a></a>text',
    '<a b></a>',
    '<a b="<"></a>',
    '<p:a></p:a>',
    '<a><!-- c --></a>',
    '<!DOCTYPE a><a></a>',
    '<a><![CDATA[x]]></a>',
    '<a><?b c?></a>',
    '<a></a></a>',
  ])('refuses any other document: %s', (xml) => {
    expect(readXml(xml)).toBeNull();
  });

  test('ends quickly on any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'<>/="\' ax:&;!?'), maxLength: 200 }), (xml) => {
        readXml(xml);
      }),
    );
    const start = performance.now();
    readXml(`<a ${'b="" '.repeat(50_000)}`);
    readXml(`<a${' '.repeat(100_000)}`);
    readXml('<a>'.repeat(100_000));
    // It takes hardly 0.1 s; with quadratic time it would take minutes.
    expect(performance.now() - start).toBeLessThan(20_000);
  });
});
