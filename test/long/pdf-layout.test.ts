import { afterAll, describe, expect, test } from 'vitest';
import { createPdfRenderer } from '../../src/adapters/pdf/pdf-renderer.ts';
import { hasTool } from '../support/tools.ts';
import { CHROMIUM_CACHE, layoutFaults, ordinary, textOfPages } from '../unit/pdf/support.ts';

const hasPdfToText = hasTool('pdftotext');

const DESCRIPTIONS: Record<string, string | undefined> = {
  ordinary: undefined,
  '150 characters': 'Prestation de conseil, خدمات استشارية '.repeat(4),
  '500 characters': 'Prestation de conseil, خدمات استشارية '.repeat(13),
  '12 lines of text': 'x\n'.repeat(12),
};

describe.skipIf(!hasPdfToText)('invoices of 1 to 50 lines', () => {
  const renderer = createPdfRenderer({ cacheDir: CHROMIUM_CACHE });
  afterAll(() => renderer.close());

  describe.each(['fr', 'ar', 'en'] as const)('in %s', (language) => {
    test.each(Object.keys(DESCRIPTIONS))('with descriptions: %s', async (kind) => {
      const faults: string[] = [];
      for (let count = 1; count <= 50; count += 1) {
        const pages = textOfPages(await renderer.render(ordinary(language, count, DESCRIPTIONS[kind])));
        if (kind === 'ordinary' && count <= 12 && pages.length > 1)
          faults.push(`${count} lines: ${pages.length} pages`);
        faults.push(...layoutFaults(pages, language, count));
      }
      expect(faults).toEqual([]);
    });
  });
});
