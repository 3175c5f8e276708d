import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { channelsOf, contrast, readableAccent, SURFACES } from '../../../src/dashboard/embedding/readable-accent.ts';
import { soleKey } from '../../../src/domain/data-keys.ts';
import { createEmbedTokens } from '../../../src/domain/embedding/embed-token.ts';
import { sitesIn } from '../../../src/domain/embedding/frame.ts';

describe('the accent of an embedded page', () => {
  it('is kept where it is readable in the theme', () => {
    expect(readableAccent('#0b5d45', 'light')).toBe('#0b5d45');
    expect(readableAccent('#6ad0aa', 'dark')).toBe('#6ad0aa');
  });

  it.each(['#000000', '#ffffff', '#ffff00', '#0000ff', '#808080', '#ff0000', '#fffefb', '#191f25'])(
    'is readable in both themes for %s',
    (accent) => {
      for (const theme of ['light', 'dark'] as const) {
        const shown = readableAccent(accent, theme);
        expect(shown).toMatch(/^#[0-9a-f]{6}$/);
        for (const surface of SURFACES[theme])
          expect(contrast(channelsOf(shown), channelsOf(surface)), `${shown} on ${surface}`).toBeGreaterThanOrEqual(
            4.5,
          );
      }
    },
  );

  it('is compared with the surfaces of the style', () => {
    const style = readFileSync(new URL('../../../src/dashboard/style/base.css', import.meta.url), 'utf8');
    for (const [nth, name] of ['ground', 'paper'].entries())
      expect(style).toContain(`--${name}: light-dark(${SURFACES.light[nth]}, ${SURFACES.dark[nth]});`);
  });
});

describe('the sites in the address of an embedded page', () => {
  it('are those that the service named', () => {
    const sites = ['https://shop.example.ma', 'http://localhost:5173'];
    expect(sitesIn(createEmbedTokens(soleKey(Buffer.alloc(32))).frameOf(sites))).toEqual(sites);
  });

  it.each(['', 'x', '*', 'x'.repeat(5000), `${btoa('"https://a.example"')}${'x'.repeat(32)}`, '\u0000'.repeat(40)])(
    'are none in anything else: %j',
    (frame) => {
      expect(sitesIn(frame)).toEqual([]);
    },
  );
});
