import { describe, expect, test } from 'vitest';
import { withArtifacts } from '../../../src/adapters/pades/artifacts.ts';

const marked = (content: string) => withArtifacts(content.split(' | ')).join(' | ');

describe('withArtifacts', () => {
  test('marks untagged painting, including marked content within it', () => {
    expect(
      marked(
        'q | 0 0 9 9 re | f | BT | /Span<</ActualText <FEFF0031>> BDC | <0001> Tj | EMC | ET | /P <</MCID 0 >>BDC | BT | <0002> Tj | ET | EMC | Q',
      ),
    ).toBe(
      '/Artifact BMC | q | 0 0 9 9 re | f | BT | /Span<</ActualText <FEFF0031>> BDC | <0001> Tj | EMC | ET | EMC | /P <</MCID 0 >>BDC | BT | <0002> Tj | ET | EMC | Q',
    );
  });

  test('does not mark what paints nothing, nor marked content nested in tagged content', () => {
    const content =
      'q | 1 0 0 1 0 0 cm | /P <</MCID 0 >>BDC | /ReversedChars BMC | <0002> Tj | EMC | EMC | Q | /P <</MCID 1 >>BDC | S | EMC';
    expect(marked(content)).toBe(content);
  });

  test('leaves unbalanced content unchanged', () => {
    for (const content of [
      'f | EMC',
      '/P <</MCID 0 >>BDC | f',
      'BT | /P <</MCID 0 >>BDC | <0001> Tj | EMC | ET',
      '/Span BMC | f',
    ]) {
      expect(marked(content)).toBe(content);
    }
  });
});
