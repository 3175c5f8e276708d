import { describe, expect, test } from 'vitest';
import { documentTexts, invoicePage } from '../../../src/adapters/pdf/invoice-page.ts';
import { COMPANY } from '../../../src/domain/invoice/customer-kind.ts';
import { NO_TERMS } from '../../../src/domain/invoice/terms.ts';
import { parseLogo } from '../../../src/domain/tenant/logo.ts';
import { LOGO, line, printed, SELLER } from './support.ts';
import { wordsOf } from './words.ts';

describe('invoicePage', () => {
  test('an Arabic title isolates its number, which would otherwise be displayed as 000123-2026', () => {
    const seller = { ...SELLER, legalName: 'شركة الأطلس', documentLanguage: 'ar' as const };
    expect(documentTexts(printed({ seller })).title).toContain('فاتورة \u20682026-000123\u2069 – ');
  });

  test('states the seller, the customer and every mandatory mention', async () => {
    const words = await wordsOf(printed());
    for (const mention of [
      'Atlas Conseil',
      'SARL au capital de 100 000,00 MAD',
      '12, boulevard Zerktouni',
      '20250 Casablanca',
      'ICE 001509176000008',
      'Identifiant fiscal (IF) 14452890',
      'Registre du commerce (RC) Casablanca 284915',
      'Taxe professionnelle (TP) 37951204',
      'CNSS 7654321',
      'Travaux du Maroc',
      '45, avenue Mohammed V',
      'ICE 002345678000047',
      'N° 2026-000123',
      '21 novembre 2026',
      'Mode de paiement Virement bancaire',
      'Exonération de TVA (taux 0 %) : Article 92 du CGI',
    ]) {
      expect(words).toContain(mention);
    }
  });

  test.each([
    ['fr', 'Vente en suspension de la TVA (article 94 du CGI) Attestation de l’acheteur n° AC 7 (3 février 2026)'],
    [
      'ar',
      'بيع مع وقف استيفاء الضريبة على القيمة المضافة (المادة \u206694\u2069 من المدونة العامة للضرائب) شهادة المشتري رقم AC 7',
    ],
    ['en', 'Sale under suspension of VAT (CGI, art. 94) Certificate of the buyer no. AC 7 (3 February 2026)'],
  ] as const)('states the exemption of a line with the certificate in %s', async (documentLanguage, stated) => {
    const seller = { ...SELLER, documentLanguage, exemptionReason: 'REASON' };
    const certificate = { number: 'AC 7', date: '2026-02-03' };
    const exempt = { ...line('X', 1, 100, 0), exemption: { code: 'suspension', certificate } as const };
    const words = await wordsOf(printed({ seller, lines: [exempt] }));
    expect(words).toContain(stated);
    expect(words).not.toContain('REASON');
    expect(await wordsOf(printed({ seller, lines: [exempt, line('Y', 1, 100, 0)] }))).toContain('REASON');
  });

  test.each([
    ['fr', 'Pays France Numéro fiscal FR40303265045'],
    ['ar', 'البلد فرنسا الرقم الضريبي FR40303265045'],
    ['en', 'Country France Tax number FR40303265045'],
  ] as const)('names the country of a customer abroad, and no ICE, in %s', async (documentLanguage, stated) => {
    const seller = { ...SELLER, documentLanguage };
    const customer = { ...printed().invoice.customer, ice: null };
    const abroad = { ...customer, kind: 'foreign', country: 'FR', taxNumber: 'FR40303265045' } as const;
    const words = await wordsOf(printed({ seller, customer: abroad }));
    expect(words).toContain(stated);
    const ofPerson = await wordsOf(printed({ seller, customer: { ...customer, kind: 'person' } }));
    for (const each of [words, ofPerson]) expect(each).not.toContain('002345678000047');
    expect(ofPerson).not.toContain(stated.split(' ')[0]);
  });

  test.each([
    [
      'fr',
      'Date de l’opération 31 octobre 2026 Date d’échéance 20 janvier 2027',
      'Référence à rappeler CMD 4711 RIB 999 780',
    ],
    ['ar', 'تاريخ العملية', 'مرجع الأداء CMD 4711 التعريف البنكي (RIB) 999 780'],
    [
      'en',
      'Date of supply 31 October 2026 Due date 20 January 2027',
      'Payment reference CMD 4711 Bank account (RIB) 999 780',
    ],
  ] as const)(
    'states the date of the operation and the payment terms in %s',
    async (documentLanguage, dates, payment) => {
      const terms = {
        operationDate: '2026-10-31',
        dueDate: '2027-01-20',
        paymentMode: 'Virement à 60 jours',
        paymentMeans: 'transfer',
        paymentReference: 'CMD 4711',
        bankAccount: '999780000128473900001726',
      } as const;
      const words = await wordsOf(printed({ terms, seller: { ...SELLER, documentLanguage } }));
      expect(words).toContain(dates);
      expect(words).toContain(`${payment} 0001284739000017 26`);
      expect(words).toContain('Virement à 60 jours');
      expect(await wordsOf(printed({ seller: { ...SELLER, documentLanguage } }))).not.toMatch(
        /RIB|échéance|Due date|الاستحقاق/,
      );
    },
  );

  test('states lines, VAT by rate, totals and the amount in words', async () => {
    const words = await wordsOf(printed());
    expect(words).toContain('1 Audit 1 123 456,78 20 % 123 456,78');
    expect(words).toContain('2 Manuels 40 85,00 0 % 3 400,00');
    expect(words).toContain('20 % 123 456,78 24 691,36');
    expect(words).toContain('0 % 3 400,00 0,00');
    expect(words).toContain('Total HT 126 856,78 MAD Total TVA 24 691,36 MAD Total TTC 151 548,14 MAD');
    expect(words).toContain('Net à payer 151 548,14 MAD');
    expect(words).toContain('cent cinquante et un mille cinq cent quarante-huit dirhams et quatorze centimes');
    expect(words).not.toContain('Arrondi');
  });

  test('shows the rounding when the client stated another amount, and writes that amount in words', async () => {
    const words = await wordsOf(printed({ amount: 15_154_813 }));
    expect(words).toContain('Total TTC 151 548,14 MAD Arrondi \u22120,01 MAD Net à payer 151 548,13 MAD');
    expect(words).toContain('et treize centimes');
  });

  test.each([
    [
      'fr',
      'Total TTC 151 548,14 MAD TVA retenue à la source (75 %) \u221218 518,52 MAD Net à payer 133 029,62 MAD',
      'Attestation de régularité fiscale n° ARF 117 (3 février 2026)',
      'Arrêtée la présente facture à la somme TTC de : cent cinquante et un mille',
    ],
    [
      'ar',
      'المبلغ الواجب أداؤه 133 029,62 MAD',
      'شهادة سلامة الوضعية الجبائية رقم ARF 117',
      'حصرت هذه الفاتورة مع احتساب الرسوم في مبلغ:',
    ],
    [
      'en',
      'Total incl. VAT 151,548.14 MAD VAT withheld by the buyer (75%) \u221218,518.52 MAD Amount due 133,029.62 MAD',
      'Certificate of tax regularity no. ARF 117 (3 February 2026)',
      'Total incl. VAT, in words: one hundred',
    ],
  ] as const)(
    'shows what the buyer withholds and pays, and the total in words, in %s',
    async (documentLanguage, sums, certificate, inWords) => {
      const seller = { ...SELLER, documentLanguage };
      const withholding = { percent: 75, certificate: { number: 'ARF 117', date: '2026-02-03' } };
      const words = await wordsOf(printed({ seller, withholding }));
      for (const each of [sums, certificate, inWords]) expect(words).toContain(each);
      const without = await wordsOf(printed({ seller, withholding: { percent: 100, certificate: null } }));
      expect(without).not.toContain('ARF 117');
      expect(await wordsOf(printed({ seller }))).not.toMatch(/retenue|withheld|المحجوزة/);
    },
  );

  test.each([
    ['fr', 'Net à payer 151 548,14 MAD Droit de timbre (0,25 %) si réglé en espèces 378,87 MAD'],
    ['ar', 'إذا تم الأداء نقدا 378,87 MAD'],
    ['en', 'Amount due 151,548.14 MAD Stamp duty (0.25%) if paid in cash 378.87 MAD'],
  ] as const)('shows the stamp duty of cash below what is to be paid in %s', async (documentLanguage, row) => {
    const seller = { ...SELLER, documentLanguage };
    const { terms } = printed().invoice;
    expect(await wordsOf(printed({ seller, terms: { ...terms, paymentMeans: 'cash' } }))).toContain(row);
    expect(await wordsOf(printed({ seller, terms: { ...terms, paymentMeans: 'cheque' } }))).not.toMatch(
      /timbre|Stamp|التنبر/,
    );
  });

  test('shows the time of acceptance with its zone, and the verification address', async () => {
    const words = await wordsOf(printed());
    expect(words).toContain('Identifiant DGI DGI-2026-7f3a91c0');
    // Summer time: one hour ahead of UTC, and a day later.
    expect(words).toContain('Acceptée le 1 juillet 2026 à 00:30:05 (UTC+1)');
    expect(words).toContain('https://fatoura.example/verify/4pXv0q9mZ2s7');
    expect(await invoicePage(printed())).toMatch(/<svg [^>]*viewBox[^>]*>.*<\/svg>/s);
  });

  test('shows the verified receipt, and nothing of it for an invoice without one', async () => {
    const receipt = { sha256: 'c4'.repeat(32), decidedAt: new Date('2026-06-30T23:30:04Z') };
    const words = await wordsOf(printed({}, { receipt }));
    expect(words).toContain('Reçu de l’administration, vérifié. Décision du 1 juillet 2026 à 00:30:04');
    expect(words).toContain(`Empreinte SHA-256 du reçu ${receipt.sha256}`);
    expect(await wordsOf(printed({}, { receipt: null }))).not.toMatch(/[Rr]eçu/);
  });

  test('states the reason for exemption only when a line has no VAT', async () => {
    expect(await wordsOf(printed({ lines: [line('Audit', 1, 100, 20)] }))).not.toContain('Exonération');
    const seller = { ...SELLER, exemptionReason: null };
    expect(await wordsOf(printed({ seller }))).not.toContain('Exonération');
  });

  test('marks test invoices and specimens, and no others', async () => {
    const live = await wordsOf(printed());
    expect(live).not.toMatch(/TEST|SPÉCIMEN|sans valeur/);
    expect(live).toContain('acceptée par la Direction générale des impôts');
    const sandbox = await wordsOf(printed({ environment: 'test' }));
    expect(sandbox).toContain('TEST');
    expect(sandbox).toContain('sans valeur légale ni fiscale');
    expect(sandbox).not.toContain('Direction générale des impôts');
    expect(await wordsOf(printed({ environment: 'test', specimen: true }))).toContain('SPÉCIMEN');
  });

  test('has no external references, even with hostile texts', async () => {
    const evil = `"'><img src=http://evil.example/x onerror=alert(1)></style><script>1</script><a href="http://evil.example">`;
    const seller = {
      ...SELLER,
      legalName: evil,
      legalForm: evil,
      tradeRegister: evil,
      exemptionReason: evil,
      email: evil,
      address: { street: evil, city: evil, postalCode: evil },
    };
    const customer = { ...COMPANY, ice: '002345678000047', name: evil, address: evil, email: evil };
    const terms = { ...NO_TERMS, paymentMode: evil, paymentReference: evil };
    const page = printed(
      { number: evil, seller, customer, terms, lines: [line(evil, 1, 100, 0)] },
      { dgiId: evil, verifyUrl: evil },
    );
    const document = await invoicePage(page);
    expect(document).not.toMatch(/<(?:img|script|a|iframe|link|object|embed|base|form)\b/i);
    expect(document.match(/<\/style>/g)).toHaveLength(1);
    const style = document.slice(document.indexOf('<style>'), document.indexOf('</style>'));
    expect(style.match(/url\((?!data:font\/woff2;base64,)|@import|evil\.example/g)).toBeNull();
    expect((await wordsOf(page)).split(evil).length).toBeGreaterThan(12);
  });

  test('replaces characters that no embedded font can draw by U+FFFD, in the page and in its margins', async () => {
    const seller = { ...SELLER, legalName: 'Société 中文 ✓ ≤' };
    const document = await invoicePage(printed({ seller, lines: [line('日本 😀 ⴰⵎⴰⵣⵉⵖ \u200d', 1, 100, 20)] }));
    expect(document).toContain('Société \ufffd\ufffd ✓ ≤');
    expect(document).toContain('\ufffd\ufffd 😀 ⴰⵎⴰⵣⵉⵖ \u200d');
    expect(document.slice(document.indexOf('<style>'))).toContain('\\fffd ');
    // The title is metadata: it keeps all characters.
    expect(document.replace(/<title>.*<\/title>/, '')).not.toMatch(/[中文日本]|\\4e2d /);
  });

  test.each(['fr', 'ar', 'en'] as const)(
    'is completely in %s, with numbers in the right order',
    async (documentLanguage) => {
      const document = await invoicePage(printed({ seller: { ...SELLER, documentLanguage } }));
      expect(document).toContain(
        `<html lang="${documentLanguage}" dir="${documentLanguage === 'ar' ? 'rtl' : 'ltr'}">`,
      );
      expect(document).not.toMatch(/undefined|\[object/);
      const words = await wordsOf(printed({ seller: { ...SELLER, documentLanguage } }));
      const others = { fr: /Invoice|فاتورة/, ar: /Facture|Invoice/, en: /Facture|فاتورة/ };
      expect(words).not.toMatch(others[documentLanguage]);
      const amounts = {
        fr: 'Arrêtée la présente facture à la somme de : cent cinquante et un mille',
        ar: 'حصرت هذه الفاتورة في مبلغ: مائة وواحد وخمسون ألفاً وخمسمائة وثمانية وأربعون درهماً وأربعة عشر سنتيماً',
        en: 'Amount in words: one hundred and fifty-one thousand',
      };
      expect(words).toContain(amounts[documentLanguage]);
      // In a right-to-left paragraph each number is isolated.
      if (documentLanguage === 'ar')
        expect(document).toContain('<bdi dir="ltr" class="nowrap">100\u00a0000,00\u00a0MAD</bdi>');
    },
  );

  test('embeds the logo, with the seller name as its text alternative', async () => {
    const seller = { ...SELLER, legalName: '"><script>' };
    const document = await invoicePage(printed({ seller }, { logo: parseLogo(LOGO) }));
    expect(document).toContain(`<img class="logo" alt="&quot;&gt;&lt;script&gt;" src="${LOGO}">`);
    expect(await invoicePage(printed())).not.toContain('<img');
  });

  test('embeds only the scripts that it uses', async () => {
    const latin = await invoicePage(printed());
    const arabic = await invoicePage(printed({ lines: [line('خدمات', 1, 100, 20)] }));
    const arabicRange = /unicode-range:U\+0600-06FF/;
    expect(latin).not.toMatch(arabicRange);
    expect(arabic).toMatch(arabicRange);
    expect(latin.length).toBeLessThan(70_000);
    // A name that appears only in the page footer counts too.
    const foot = await invoicePage(printed({ seller: { ...SELLER, tradeRegister: 'الدار البيضاء 1' } }));
    expect(foot).toMatch(arabicRange);
  });
});
