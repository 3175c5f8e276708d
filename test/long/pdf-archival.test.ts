import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPdfRenderer } from '../../src/adapters/pdf/pdf-renderer.ts';
import { softwareKey } from '../../src/adapters/signing-key/software-key.ts';
import { createSignedRenderer } from '../../src/app/signed-renderer.ts';
import type { PrintedInvoice } from '../../src/domain/invoice/ports.ts';
import { parseLogo } from '../../src/domain/tenant/logo.ts';
import { signatureValidator, veraPdf } from '../support/java-tool.ts';
import { hasTool } from '../support/tools.ts';
import { detached, pdfsig } from '../unit/pades/support.ts';
import { CREDIT, creditNote } from '../unit/pdf/credit-note.ts';
import { CHROMIUM_CACHE, line, ordinary, png, printed, SELLER } from '../unit/pdf/support.ts';
import { ecKey, identityOf, rsaKey } from '../unit/xades/identities.ts';

const ARABIC = {
  ...SELLER,
  legalName: 'شركة الأطلس للاستشارات والهندسة',
  legalForm: 'ش.ذ.م.م',
  address: { street: '12، شارع الزرقطوني', city: 'الدار البيضاء', postalCode: '20250' },
  documentLanguage: 'ar',
} as const;
const MIXED = [
  line('تركيب نظام ERP Odoo 17 (النسخة 17.0) – المرحلة 2/3 لا إله', 1, 450_000, 20),
  line('خَدَماتٌ استشاريّة ﷺ ٪ ۱۲۳ ١٢٣ پ گ چ ڤ ݣ', 2, 999_999, 10),
  line('Audit œuvre ≤ 10 m² – 5 ‰ ✓ № 5 ½ ™', 3, 100, 0),
  line('😀 👍🏽 👩‍💻 🇲🇦 ⴰⵎⴰⵣⵉⵖ שָׁלוֹם Ελληνικά Кириллица हिन्दी क्षत्रिय Tiếng Việt', 1, 100, 7),
  line('中文 日本語 한국어 ไทย \ue000 \u{10ffff} \u200b\u00ad\u034f\ufeff e\u0301\u0302\u0323', 1, 100, 14),
  line(
    '1️⃣ #⃣ 👪🏾 e\u20dd oﬃce ﬁn ﬂ Ａ１ 🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} ❤️‍🔥 👍\ufe0e ☑️',
    1,
    100,
    20,
  ),
  line('\u202e321\u202c \u2066abc\u2069 \u200f!\u200e <script>&#x41;', 1, 100, 20),
];
const long = (lines: typeof MIXED) => Array.from({ length: 1_000 }, (_, index) => lines[index % lines.length]!);

const DOCUMENTS: Record<string, PrintedInvoice> = {
  short: printed(),
  english: printed({ seller: { ...SELLER, documentLanguage: 'en' } }),
  arabic: printed({ seller: ARABIC, lines: MIXED, environment: 'test' }),
  mixed: printed({ lines: MIXED, environment: 'test', specimen: true }),
  logo: printed({}, { logo: parseLogo(`data:image/png;base64,${png(300, 100).toString('base64')}`) }),
  credit: creditNote(),
  'credit-arabic': creditNote({
    seller: ARABIC,
    environment: 'test',
    credit: { ...CREDIT, note: `${MIXED[0]!.description}\n`.repeat(8) },
  }),
  ordinary: ordinary('fr', 12),
  pages: ordinary('ar', 40),
  long: printed({ lines: long([line('Article', 1, 100, 20)]) }),
  'long-arabic': printed({ seller: ARABIC, lines: long(MIXED) }),
  wide: printed({
    seller: { ...SELLER, legalName: 'W'.repeat(200) },
    lines: [line('ش'.repeat(500), 1, 100, 20), line('W'.repeat(500), 999_999_999, 9_000, 20)],
  }),
};
const XML = Buffer.from(`<Invoice>${'<cbc:Note>é</cbc:Note>'.repeat(20_000)}</Invoice>`);

const validator = veraPdf();
const dss = signatureValidator();

describe.each([
  ['RSA-2048', softwareKey(identityOf(rsaKey(2048))), Object.keys(DOCUMENTS)],
  ['P-256', softwareKey(identityOf(ecKey('prime256v1'))), ['short', 'arabic']],
])('signed PDFs (%s)', (_, key, names) => {
  const pdfs: Record<string, Uint8Array> = {};
  const renderer = createSignedRenderer(createPdfRenderer({ cacheDir: CHROMIUM_CACHE }), () => key);
  beforeAll(async () => {
    for (const name of names) pdfs[`${name}.pdf`] = await renderer.render(DOCUMENTS[name]!, XML);
  });
  afterAll(() => renderer.close());

  test.skipIf(validator === null)('are PDF/A-3A according to veraPDF, with any texts', () => {
    expect(validator!.run(['3a'], pdfs)).toEqual(Object.keys(pdfs).map((name) => `compliant ${name}`));
  });

  test.skipIf(validator === null)('are PDF/UA-1 according to veraPDF, with any texts', () => {
    expect(validator!.run(['ua1'], pdfs)).toEqual(Object.keys(pdfs).map((name) => `compliant ${name}`));
  });

  test.skipIf(validator === null)('are rejected by veraPDF when they are damaged', () => {
    const broken = Buffer.from(pdfs['short.pdf']!)
      .toString('latin1')
      .replace('/Type/OutputIntent', '/Type/OutputIntenx');
    const [verdict] = validator!.run(['3a'], {
      'broken.pdf': Buffer.from(broken.replace('<pdfaid:part>3', '<pdfaid:part>1'), 'latin1'),
    });
    expect(verdict).toBe('broken broken.pdf');
  });

  test.skipIf(dss === null)(
    'are PAdES-BASELINE-B according to the DSS of the European Commission, without remarks',
    () => {
      const [name] = Object.keys(pdfs);
      const certificate = String(key.certificateChain[0]);
      const changed = Buffer.from(pdfs[name!]!);
      changed[changed.indexOf('stream\n') + 40]! ^= 1;
      const [first, ...rest] = dss!.run([], { 'trusted.pem': certificate, ...pdfs, 'x-changed.pdf': changed });
      expect([first, ...rest.slice(0, Object.keys(pdfs).length - 1)]).toEqual(
        Object.keys(pdfs).map((each) => `PAdES-BASELINE-B TOTAL_PASSED ${each}`),
      );
      expect(rest.join('\n')).toMatch(/TOTAL_FAILED x-changed\.pdf/);
    },
  );

  test.skipIf(!hasTool('pdfsig'))('are signed as a whole, and contain the XML', () => {
    for (const [name, pdf] of Object.entries(pdfs)) {
      expect(pdfsig(pdf), name).toMatch(/Total document signed[\s\S]*Signature is Valid/);
      expect(detached(pdf).content.equals(XML), name).toBe(true);
    }
  });
});
