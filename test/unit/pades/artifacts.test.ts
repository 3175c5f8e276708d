import { describe, expect, test } from 'vitest';
import { withArtifacts } from '../../../src/adapters/pades/artifacts.ts';

const marked = (content: string) => withArtifacts(content.split(' | ')).join(' | ');

describe('withArtifacts', () => {
  test('marks what paints and is not tagged, whatever marks it has inside', () => {
    expect(
      marked(
        'q | 0 0 9 9 re | f | BT | /Span<</ActualText <FEFF0031>> BDC | <0001> Tj | EMC | ET | /P <</MCID 0 >>BDC | BT | <0002> Tj | ET | EMC | Q',
      ),
    ).toBe(
      '/Artifact BMC | q | 0 0 9 9 re | f | BT | /Span<</ActualText <FEFF0031>> BDC | <0001> Tj | EMC | ET | EMC | /P <</MCID 0 >>BDC | BT | <0002> Tj | ET | EMC | Q',
    );
  });

  test('leaves alone what paints nothing, and marks nested in what is tagged', () => {
    const content =
      'q | 1 0 0 1 0 0 cm | /P <</MCID 0 >>BDC | /ReversedChars BMC | <0002> Tj | EMC | EMC | Q | /P <</MCID 1 >>BDC | S | EMC';
    expect(marked(content)).toBe(content);
  });

  test('leaves alone what is not understood', () => {
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
