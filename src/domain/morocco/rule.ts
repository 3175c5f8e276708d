import { addDays } from '../calendar-date.ts';
import type { DocumentLanguage } from '../document-language.ts';
import type { CustomerKind } from '../invoice/customer-kind.ts';
import type { Kind } from '../invoice/kinds.ts';
import type { ServicePeriod } from '../invoice/particulars.ts';
import type { TaxRate } from '../invoice/tax-rate.ts';
import type { LegalTerms } from '../invoice/terms.ts';
import type { Centimes } from '../money.ts';
import type { LineExemption } from './exemptions.ts';

export type Texts = Readonly<Record<DocumentLanguage, string>>;

/** The value that a text shows in the place of `{name}`: a number, a list of numbers, or words. */
type Figure = number | readonly number[] | Texts;

/**
 * The day on which most sources were read. They are press and secondary sources: the complete texts of the laws were
 * not available.
 */
export const READ = '2026-11-29';
/** For sources that were read earlier, only the month is known. */
export const READ_EARLIER = '2026-11';

/** Where a rule was read, and when. */
export interface Source {
  /** Names of pages, separated by semicolons. */
  readonly source: string;
  /** The day, `YYYY-MM-DD`, or the month if only that is known. */
  readonly readOn: string;
}

/** A time in which a rule has these figures. Dates are those of Africa/Casablanca, `YYYY-MM-DD`. */
export interface PeriodRow<Figures> extends Source {
  /** The first day; null if the sources state none. */
  readonly from: string | null;
  /** The last day; by default the day before the next period, or none. */
  readonly until?: string;
  readonly figures: Figures;
}

/** The texts of a warning in English. */
export interface RuleWarning {
  /** What is wrong, by which rule. */
  readonly description: string;
  /** What to do. */
  readonly remedy: string;
}

/** A row of the table of rules. */
export interface RuleRow<Figures> {
  /** `announced`: no text has put it into force, so it applies to no document yet. */
  readonly status: 'in_force' | 'announced';
  /** The law and its article; null if the sources name none. */
  readonly article: string | null;
  /** The text of the rule, with figures as `{name}`. */
  readonly says: Texts;
  /** The point on which the sources contradict each other. Such a rule is off: it causes no warning. */
  readonly doubt?: Texts;
  /**
   * The warning about a document that breaks the rule, for clients; without it, the rule is information and no fault of
   * the document.
   */
  readonly warning?: RuleWarning;
  /** Whether the rule applies to a credit note by the date of the invoice that it corrects. */
  readonly byOriginal?: true;
  /** In chronological order. */
  readonly periods: readonly PeriodRow<Figures>[];
  /** Finds where the rule concerns a document; absent if the content of a document does not decide it. */
  readonly concerns?: (document: RuledDocument, figures: Figures, date: string) => readonly Concern[];
}

/** A finding of a rule in a document. */
export interface Concern {
  /** Dotted path of the field: `customer.address`. */
  readonly path: string;
  /** The finding in English, if it can be stated more precisely than in the table. */
  readonly what?: string;
}

/** The parts of a document that rules depend on. */
export interface RuledDocument {
  readonly kind: Kind;
  /** The date of the invoice that a credit note corrects; null for invoices. */
  readonly correctedOn: string | null;
  /** The rates of its lines, in their order. */
  readonly taxRates: readonly TaxRate[];
  /** The exemptions of its lines, in their order; null where a line states none. */
  readonly exemptions: readonly (LineExemption | null)[];
  /** The amount to be paid, with tax. */
  readonly total: Centimes;
  readonly tax: Centimes;
  readonly buyer: { readonly kind: CustomerKind; readonly ice: string | null; readonly address: string | null };
  /** The mandatory fields that the seller's profile lacks. */
  readonly missingSellerFields: readonly string[];
  readonly exemptionReason: string | null;
  /** The terms that the documents state. */
  readonly terms: Pick<LegalTerms, 'operationDate' | 'dueDate' | 'paymentMeans' | 'paymentReference'>;
  readonly servicePeriod: Pick<ServicePeriod, 'to'> | null;
  /** Whether it asks for a deposit. */
  readonly isDeposit: boolean;
  /** Whether it also states its amount in another currency. */
  readonly hasForeignValue: boolean;
  /** The VAT that its buyer withholds; null if it states none. */
  readonly withholding: { readonly percent: number; readonly certificate: { readonly date: string } | null } | null;
}

/** A rule in one of its periods. */
export interface Rule extends Source, Pick<RuleRow<never>, 'status' | 'article' | 'warning'> {
  readonly code: string;
  readonly level: 'warning' | 'information';
  /** Its text, with the figures of the period. */
  readonly says: Texts;
  /** Why it is off; null if it is on. */
  readonly doubt: Texts | null;
  readonly validFrom: string | null;
  readonly validUntil: string | null;
  readonly byOriginal: boolean;
  readonly concerns: (document: RuledDocument, date: string) => readonly Concern[];
}

/** A rule of the table. */
export interface MadeRule<Level extends Rule['level']> {
  readonly level: Level;
  /** Returns the rule in each of its periods. */
  readonly periods: (code: string) => Rule[];
}

type AnyFigures = Readonly<Record<string, Figure>>;

/** Makes a rule that documents can break. */
export function warningRule<Figures extends AnyFigures>(
  row: RuleRow<Figures> & { readonly warning: RuleWarning },
): MadeRule<'warning'> {
  return { level: 'warning', periods: periodsOf(row) };
}

/** Makes a rule that explains something about a document. */
export function informationRule<Figures extends AnyFigures>(
  row: RuleRow<Figures> & { readonly warning?: never },
): MadeRule<'information'> {
  return { level: 'information', periods: periodsOf(row) };
}

function periodsOf<Figures extends AnyFigures>(row: RuleRow<Figures>): (code: string) => Rule[] {
  const { periods, says, doubt = null, warning, concerns, byOriginal = false, ...rest } = row;
  return (code) =>
    periods.map(({ from, until, figures, source, readOn }, index) => {
      const next = periods[index + 1]?.from ?? null;
      return {
        ...rest,
        code,
        level: warning ? 'warning' : 'information',
        says: filled(says, figures),
        doubt: doubt && filled(doubt, figures),
        ...(warning && { warning: { ...warning, description: fill(warning.description, figures, 'en') } }),
        source,
        readOn,
        validFrom: from,
        validUntil: until ?? (next === null ? null : addDays(next, -1)),
        byOriginal,
        concerns: (document, date) => concerns?.(document, figures, date) ?? [],
      };
    });
}

/** Returns the figures of a rule on a day; null before its first period and after its end. @param date `YYYY-MM-DD` */
export function figuresOn<Figures>(periods: readonly PeriodRow<Figures>[], date: string): Figures | null {
  const period = periods.findLast(({ from }) => from === null || from <= date);
  return period && (period.until === undefined || date <= period.until) ? period.figures : null;
}

/** Makes a period without a known beginning whose rule has no figures. */
export function always(source: string, readOn: string): readonly PeriodRow<Record<string, never>>[] {
  return [{ from: null, figures: {}, source, readOn }];
}

function filled(texts: Texts, figures: AnyFigures): Texts {
  const of = (language: DocumentLanguage) => fill(texts[language], figures, language);
  return { fr: of('fr'), ar: of('ar'), en: of('en') };
}

function fill(text: string, figures: AnyFigures, language: DocumentLanguage): string {
  return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => shown(figures[name], language, name));
}

/** @throws {RangeError} if a text names a figure that its row lacks, which the tests of the table would show */
function shown(figure: Figure | undefined, language: DocumentLanguage, name: string): string {
  if (figure === undefined) throw new RangeError(`a rule has no figure ${name}`);
  if (typeof figure === 'number') return numberIn(figure, language);
  if ('fr' in figure) return figure[language];
  return figure.map((each) => numberIn(each, language)).join(language === 'ar' ? '، ' : ', ');
}

const GROUPS: Texts = { fr: '\u202f', ar: '.', en: ',' };

/** `20000` → `20 000`, `20.000`, `20,000`; decimals have the comma in French and Arabic. */
function numberIn(value: number, language: DocumentLanguage): string {
  const [whole = '', decimals] = String(value).split('.');
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, GROUPS[language]);
  return decimals === undefined ? grouped : `${grouped}${language === 'en' ? '.' : ','}${decimals}`;
}
