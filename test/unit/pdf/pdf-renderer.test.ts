import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ChromiumPdfRenderer, createPdfRenderer } from '../../../src/adapters/pdf/pdf-renderer.ts';
import type { DocumentLanguage } from '../../../src/domain/document-language.ts';
import { COMPANY } from '../../../src/domain/invoice/customer-kind.ts';
import { RendererUnavailable } from '../../../src/domain/invoice/ports.ts';
import { parseLogo } from '../../../src/domain/tenant/logo.ts';
import { hasTool } from '../../support/tools.ts';
import { CREDIT, creditNote } from './credit-note.ts';
import {
  CHROMIUM_CACHE,
  LOGO,
  layoutFaults,
  line,
  ordinary,
  pageCount,
  printed,
  SELLER,
  textOfPages,
} from './support.ts';

const hasPdfToText = hasTool('pdftotext');

describe('createPdfRenderer', () => {
  let renderer: ChromiumPdfRenderer;
  beforeAll(async () => {
    // A limit that only a hanging browser exceeds.
    renderer = createPdfRenderer({ cacheDir: CHROMIUM_CACHE, timeLimit: 60_000 });
    await renderer.warm();
  });
  afterAll(() => renderer.close());

  test('renders an invoice on one A4 page, with embedded fonts and no links', async () => {
    const pdf = await renderer.render(printed());
    const raw = Buffer.from(pdf).toString('latin1');
    expect(raw.startsWith('%PDF-')).toBe(true);
    expect(pageCount(pdf)).toBe(1);
    const [width, height] = /\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/.exec(raw)!.slice(1).map(Number);
    expect(width! / 72).toBeCloseTo(210 / 25.4, 1);
    expect(height! / 72).toBeCloseTo(297 / 25.4, 1);
    const fonts = [...raw.matchAll(/\/BaseFont \/\w+\+([\w-]+)/g)].map(([, font]) => font);
    expect(new Set(fonts)).toEqual(new Set(['NotoSans-Regular', 'NotoSans-Bold']));
    expect(raw).not.toMatch(/\/Annots|\/URI|\/JavaScript|\/OpenAction/);
    expect(raw).toContain('/StructTreeRoot');
  });

  test.skipIf(!hasPdfToText)('contains the content of the invoice', async () => {
    const [text] = textOfPages(await renderer.render(printed()));
    for (const piece of ['FACTURE', 'N° 2026-000123', 'Atlas Conseil', 'ICE 002345678000047', 'Page 1 / 1']) {
      expect(text).toContain(piece);
    }
    expect(text).toMatch(/1 Audit 1 123 456,78 20 % 123 456,78/);
    expect(text).toMatch(/Net à payer 151 548,14 MAD/);
    expect(text).toContain('IF 14452890 · RC Casablanca 284915');
  });

  test.skipIf(!hasPdfToText)('fits a credit note with a reason of 500 characters on one page', async () => {
    const note = `${'W '.repeat(248)}END.`;
    const [text = '', ...others] = textOfPages(await renderer.render(creditNote({ credit: { ...CREDIT, note } })));
    expect(others).toEqual([]);
    for (const piece of ['AVOIR', 'N° AV-2026-000001', 'Motif de l’avoir Retour de marchandises', 'END.']) {
      expect(text).toContain(piece);
    }
    expect(text).toMatch(/Montant en votre faveur 2 046,00 MAD/);
  });

  test.skipIf(!hasPdfToText).each(['fr', 'ar', 'en'] as const)(
    'fits an ordinary invoice of 12 lines on one page, and keeps the totals of a longer one with its last lines (%s)',
    async (language) => {
      expect(textOfPages(await renderer.render(ordinary(language, 12)))).toHaveLength(1);
      // Numbers of lines around the point where the totals still fit the page but the amount in words or the acceptance
      // do not; `npm run test:long` tries every number.
      for (const count of language === 'fr' ? [13, 17, 21, 23, 44, 50] : [23, 44]) {
        const pages = textOfPages(await renderer.render(ordinary(language, count)));
        expect(layoutFaults(pages, language, count)).toEqual([]);
      }
      // A page that continues the table of lines, with descriptions of 500 characters.
      const long = 'Prestation استشارية de conseil '.repeat(16);
      for (const count of language === 'fr' ? [1, 3, 4, 10, 17] : [4]) {
        const pages = textOfPages(await renderer.render(ordinary(language, count, long)));
        expect(layoutFaults(pages, language, count)).toEqual([]);
      }
    },
  );

  test.skipIf(!hasPdfToText)('breaks the footer between the numbers of the seller, never inside one', async () => {
    for (const legalName of [
      'Atlas',
      'Atlas Conseil',
      'Atlas Conseil et Ingénierie',
      'Atlas Conseil et Ingénierie du Maroc',
    ]) {
      const seller = {
        ...SELLER,
        legalName,
        tradeRegister: '284915 / Casablanca - Anfa',
        professionalTax: '379-512/04',
      };
      for (const documentLanguage of ['fr', 'ar'] as const) {
        const [text = ''] = textOfPages(await renderer.render(printed({ seller: { ...seller, documentLanguage } })));
        // Without invisible characters: joiners, direction marks, and the spaces next to them.
        const foot = text.trimEnd().split('\n').slice(-3).join('\n');
        const plain = foot.replaceAll(/[^\P{Cf}]|[^\S\n]/gu, '');
        expect(plain, legalName).toContain('284915/Casablanca-Anfa');
        expect(plain, legalName).toContain('379-512/04');
      }
    }
  });

  test('renders Arabic and other scripts with the embedded fonts', async () => {
    const lines = [line('خدمات استشارية', 1, 100, 20), line('Ελληνικά Кириллица ẓṭḥ', 1, 100, 20)];
    const pdf = await renderer.render(printed({ lines, seller: { ...SELLER, legalName: 'شركة الأطلس' } }));
    const fonts = Buffer.from(pdf)
      .toString('latin1')
      .match(/\/BaseFont \/\w+\+[\w-]+/g)!;
    const names = new Set(fonts.map((font) => font.replace(/^.*\+/, '')));
    expect(names).toEqual(
      new Set(['NotoSans-Regular', 'NotoSans-Bold', 'IBMPlexSansArabic-Regular', 'IBMPlexSansArabic-Bold']),
    );
  });

  test.skipIf(!hasPdfToText)('shows the whole footer, even the longest and widest', async () => {
    const wide = (length: number) => 'W'.repeat(length);
    const names = { legalName: wide(200), legalForm: wide(50), capital: Number.MAX_SAFE_INTEGER };
    const numbers = { taxId: wide(30), tradeRegister: wide(100), professionalTax: wide(30), cnss: `${wide(27)}END` };
    const [text = ''] = textOfPages(await renderer.render(printed({ seller: { ...SELLER, ...names, ...numbers } })));
    // The end of the text is cut off if the box is too small.
    expect(text.trimEnd().slice(-200)).toContain('END');
    // Numbers that must not be broken, each on its own line.
    const each = {
      legalName: 'Atlas',
      taxId: wide(30),
      tradeRegister: wide(35),
      professionalTax: wide(30),
      cnss: `${wide(27)}END`,
    };
    const [other = ''] = textOfPages(await renderer.render(printed({ seller: { ...SELLER, ...each } })));
    expect(other.trimEnd().slice(-200)).toContain('END');
  });

  test('spreads 1,000 lines over many pages, each with the table header and the page number', async () => {
    const lines = Array.from({ length: 1_000 }, (_, index) => line(`Article n${index + 1}n`, 1, 100 + index, 20));
    const pdf = await renderer.render(printed({ lines }));
    const pages = pageCount(pdf);
    expect(pages).toBeGreaterThan(20);
    if (!hasPdfToText) return;
    const texts = textOfPages(pdf);
    expect(texts).toHaveLength(pages);
    texts.forEach((text, index) => {
      expect(text).toContain(`Page ${index + 1} / ${pages}`);
      if (/Article/.test(text)) expect(text).toMatch(/Désignation.*Montant HT/);
      if (index > 0) expect(text).toContain('Facture 2026-000123 · Atlas Conseil');
    });
    const shown = [...texts.join('').matchAll(/Article n(\d+)n/g)].map(([, number]) => Number(number));
    expect(shown).toEqual(lines.map((_, index) => index + 1));
  });

  test.skipIf(!hasPdfToText)('shows hostile texts literally', async () => {
    const evil = '<script>alert(1)</script><iframe src=file:///etc/passwd>';
    const pdf = await renderer.render(
      printed({
        number: '"}</style>\\',
        seller: { ...SELLER, legalName: evil },
        lines: [line(evil, 1, 100, 20), line('W'.repeat(500), 1, 100, 20)],
      }),
    );
    const text = textOfPages(pdf, 'raw')
      .join('')
      .replaceAll(/[\s\u200b]/g, '');
    // In the header, the line, and the footer, where long words get break opportunities.
    expect(text.split('<script>alert(1)</script><iframesrc=file:///etc/passwd>').length).toBeGreaterThanOrEqual(4);
    expect(text).toContain('N°"}</style>\\');
    expect(text.match(/W/g)).toHaveLength(500);
    expect(text).not.toContain('root:');
  });

  test('loads nothing that a text refers to', async () => {
    const asked: string[] = [];
    const listener = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.end();
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const { port } = listener.address() as AddressInfo;
    try {
      const at = `http://127.0.0.1:${port}`;
      const texts = [
        `<img src="${at}/img"><link rel=stylesheet href=${at}/css><iframe src=${at}/frame></iframe>`,
        `</td></table></style><style>@import url(${at}/import);body{background:url(${at}/url)}</style>`,
        `<script>fetch('${at}/fetch')</script><svg><image href="${at}/svg"/></svg><base href="${at}/">`,
        `<meta http-equiv=refresh content="0;url=${at}/refresh"><object data=file:///etc/passwd></object>`,
        `]]><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>&x;&lt;&#x3c;`,
        `"} @font-face { src: url(${at}/font) } \\22 ; content: url(${at}/content)`,
      ];
      const [evil = ''] = texts;
      const pdf = await renderer.render(
        printed({
          seller: {
            ...SELLER,
            legalName: texts[1]!,
            legalForm: texts[5]!,
            tradeRegister: texts[5]!,
            documentLanguage: 'ar',
          },
          customer: { ...COMPANY, ice: '002345678000047', name: texts[2]!, address: texts[3]!, email: evil },
          lines: texts.map((text) => line(text, 1, 100, 20)),
        }),
      );
      expect(asked).toEqual([]);
      if (!hasPdfToText) return;
      const shown = textOfPages(pdf, 'raw')
        .join('')
        .replaceAll(/[\s\u200b]/g, '');
      for (const text of texts) expect(shown).toContain(text.replaceAll(/\s/g, ''));
      expect(shown).not.toContain('root:');
    } finally {
      listener.close();
    }
  });

  test.skipIf(!hasPdfToText)('is in the document language of the tenant', async () => {
    const inLanguage = async (documentLanguage: DocumentLanguage) =>
      textOfPages(await renderer.render(printed({ seller: { ...SELLER, documentLanguage } })))[0] ?? '';
    const english = await inLanguage('en');
    expect(english).toMatch(/Total incl\. VAT +151,548\.14 MAD/);
    expect(english).toContain('Page 1 / 1');
    expect(english).toContain(
      'Amount in words: one hundred and fifty-one thousand five hundred and forty-eight dirhams',
    );
    const arabic = await inLanguage('ar');
    // Numbers are the same as in French; the columns run from right to left.
    expect(arabic).toContain('151 548,14 MAD');
    expect(arabic).toContain('2026-000123');
    expect(arabic).toContain('فاتورة');
    expect(arabic).toContain('المبلغ الواجب أداؤه');
    expect(arabic).toMatch(/123 456,78.*Audit/);
  });

  test('shows the logo; a broken image does no harm', async () => {
    const plain = await renderer.render(printed());
    const pdf = await renderer.render(printed({}, { logo: parseLogo(LOGO) }));
    const images = (file: Uint8Array) =>
      Buffer.from(file)
        .toString('latin1')
        .match(/\/Subtype \/Image/g)?.length ?? 0;
    expect(images(plain)).toBe(0);
    expect(images(pdf)).toBeGreaterThan(0);
    const broken = { ...parseLogo(LOGO), content: Buffer.from('not an image') };
    expect(pageCount(await renderer.render(printed({}, { logo: broken })))).toBe(1);
  });

  test('marks a test invoice on each page', async () => {
    const lines = Array.from({ length: 60 }, (_, index) => line(`Article ${index}`, 1, 100, 20));
    const [live, test] = await Promise.all([
      renderer.render(printed({ lines })),
      renderer.render(printed({ lines, environment: 'test' })),
    ]);
    expect(pageCount(test)).toBeGreaterThan(1);
    expect(test.length).toBeGreaterThan(live.length);
    if (!hasPdfToText) return;
    // The mark is rotated, so pdftotext outputs its letters one by one.
    const marked = (text: string) => text.includes('\nT\nE\nS\nT\n');
    expect(textOfPages(test, 'raw').every(marked)).toBe(true);
    expect(textOfPages(live, 'raw').some(marked)).toBe(false);
  });

  test('reports the browser in use', async () => {
    const diagnosis = await renderer.diagnose();
    expect(diagnosis).toMatchObject({ works: true, version: expect.stringMatching(/Chrom/) });
  });
});

describe('without a browser that starts', () => {
  test('says what to do, and does no harm', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'fatoura-no-browser-'));
    const file = join(folder, 'browser');
    const warnings: string[] = [];
    const log = { info() {}, warn: (_: object, message: string) => void warnings.push(message) };
    const unusable: [string, () => Promise<void>][] = [
      ['absent', async () => {}],
      ['not executable', () => writeFile(file, 'text', { mode: 0o600 })],
      ['not a program', () => writeFile(file, '\x7fELF', { mode: 0o700 })],
      ['exits at once', () => writeFile(file, '#!/bin/sh\necho the reason why >&2\nexit 3\n', { mode: 0o700 })],
    ];
    try {
      for (const [what, prepare] of unusable) {
        await rm(file, { force: true });
        await prepare();
        const renderer = createPdfRenderer({ executablePath: file, cacheDir: folder, log });
        await renderer.warm();
        expect(warnings.pop(), what).toMatch(/CHROMIUM_PATH does not start/);
        const failure = await renderer.render(printed()).catch((error: unknown) => error);
        expect(failure, what).toBeInstanceOf(RendererUnavailable);
        expect((failure as Error).message, what).toContain('or unset it to use the Chromium of the npm package');
        if (what === 'exits at once') expect((failure as Error).message).toContain('the reason why');
        expect(await renderer.diagnose(), what).toEqual({ works: false, advice: (failure as Error).message });
        await renderer.close();
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
