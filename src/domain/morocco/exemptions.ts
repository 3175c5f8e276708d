import type { DocumentLanguage } from '../document-language.ts';

type Texts = Readonly<Record<DocumentLanguage, string>>;

interface ExemptionRow extends Texts {
  /** Of the CGI. */
  readonly article: string;
  /** Whether the sale rests on a certificate of the buyer. */
  readonly needsCertificate: boolean;
  /** Its description for clients. */
  readonly description: string;
  /** Where it was read, and when. */
  readonly source: string;
  readonly readOn: string;
}

const ARTICLE_92 = { source: 'mihfada.com (CGI, art. 92)', readOn: '2026-11-29' } as const;
const SUSPENSION = { source: 'fiscamaroc.com (CGI, art. 94, 124); decree 2-06-574', readOn: '2026-11-29' } as const;

/**
 * The reasons why a line has no VAT. The table is short: it has only reasons that its sources state without doubt. The
 * sources state no days from which they apply. The texts of documents list exemptions in this order.
 */
export const EXEMPTIONS = {
  export: {
    article: '92-I-1°',
    needsCertificate: false,
    description: 'An export of goods or services, CGI art. 92-I-1°.',
    fr: 'Exportation, exonérée avec droit à déduction',
    ar: 'تصدير معفى مع الحق في الخصم',
    en: 'Export, exempt with the right to deduct',
    ...ARTICLE_92,
  },
  with_deduction: {
    article: '92',
    needsCertificate: false,
    description: 'Another exemption with the right to deduct, CGI art. 92.',
    fr: 'Exonération avec droit à déduction',
    ar: 'إعفاء مع الحق في الخصم',
    en: 'Exempt with the right to deduct',
    ...ARTICLE_92,
  },
  without_deduction: {
    article: '91',
    needsCertificate: false,
    description: 'An exemption without the right to deduct, CGI art. 91.',
    fr: 'Exonération sans droit à déduction',
    ar: 'إعفاء دون الحق في الخصم',
    en: 'Exempt without the right to deduct',
    source: 'flasheconomie.com (DGI, note 17-01-2019); decree 2-06-574',
    readOn: '2026-11-29',
  },
  suspension: {
    article: '94',
    needsCertificate: true,
    description: 'A sale under suspension of VAT, CGI art. 94. It rests on a certificate of the buyer.',
    fr: 'Vente en suspension de la TVA',
    ar: 'بيع مع وقف استيفاء الضريبة على القيمة المضافة',
    en: 'Sale under suspension of VAT',
    ...SUSPENSION,
  },
} as const satisfies Readonly<Record<string, ExemptionRow>>;

export type ExemptionCode = keyof typeof EXEMPTIONS;
export const EXEMPTION_CODES = Object.keys(EXEMPTIONS) as [ExemptionCode, ...ExemptionCode[]];

/** Why a line has no VAT. */
export interface LineExemption {
  readonly code: ExemptionCode;
  /** The buyer's certificate; absent or null if none is stated. `date` is `YYYY-MM-DD`. */
  readonly certificate?: { readonly number: string; readonly date: string } | null | undefined;
}

const CITED: Readonly<Record<DocumentLanguage, (article: string) => string>> = {
  fr: (article) => `article ${article} du CGI`,
  // Isolated from left to right: 92-I-1° would otherwise be displayed as I-1°-92.
  ar: (article) => `المادة \u2066${article}\u2069 من المدونة العامة للضرائب`,
  en: (article) => `CGI, art. ${article}`,
};

/** Returns the text of an exemption with its article, as documents state it. */
export function exemptionText(code: ExemptionCode, language: DocumentLanguage): string {
  const row: ExemptionRow = EXEMPTIONS[code];
  return `${row[language]} (${CITED[language](row.article)})`;
}

interface ExemptibleLine {
  readonly taxRate: number;
  readonly exemption?: LineExemption | null | undefined;
}

/** Whether a line without VAT leaves the reason to the seller's profile. */
export function leavesReasonToProfile({ taxRate, exemption }: ExemptibleLine): boolean {
  return taxRate === 0 && exemption == null;
}

/**
 * Returns the reasons of all lines without VAT in one text, in the order of the table, with that of the seller's
 * profile last; null if none is stated.
 */
export function exemptionReasonOf(
  lines: readonly ExemptibleLine[],
  profileReason: string | null,
  language: DocumentLanguage,
): string | null {
  const codes = new Set(lines.map(({ exemption }) => exemption?.code));
  const own = EXEMPTION_CODES.filter((code) => codes.has(code)).map((code) => exemptionText(code, language));
  const general = profileReason?.trim() && lines.some(leavesReasonToProfile) ? [profileReason] : [];
  return own.length === 0 ? (general[0] ?? null) : [...own, ...general].join(' ; ');
}
