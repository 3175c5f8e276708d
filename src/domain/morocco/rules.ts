import { CONTENT_RULES } from './content-rules.ts';
import { PAYMENT_RULES } from './payment-rules.ts';
import type { Concern, Rule, RuledDocument, RuleWarning } from './rule.ts';
import { VAT_RULES } from './vat-rules.ts';
import { WITHHOLDING_RULES } from './withholding-rules.ts';

/**
 * The rules of Moroccan law that an invoice meets: one row each, by code. They warn and explain; they refuse nothing
 * and change no amount (docs/decisions/0082). A new threshold is a row in `periods`, which ends the row before; a new
 * rate of VAT is a row of `src/domain/invoice/tax-rate.ts` with the days on which it is in force.
 */
const RULES = { ...VAT_RULES, ...WITHHOLDING_RULES, ...PAYMENT_RULES, ...CONTENT_RULES } as const;

type Rules = typeof RULES;

/** The rules that warn. */
export type WarningRuleCode = {
  [Code in keyof Rules]: Rules[Code]['level'] extends 'warning' ? Code : never;
}[keyof Rules];

/** All rules in all their periods, in the order of the table. */
export const ALL_RULES: readonly Rule[] = Object.entries(RULES).flatMap(([code, { periods }]) => periods(code));

/** The warnings of the rules, with the figures of the last period. */
export const RULE_WARNINGS = Object.fromEntries(
  ALL_RULES.flatMap(({ code, warning }) => (warning ? [[code, warning]] : [])),
) as Readonly<Record<WarningRuleCode, RuleWarning>>;

/** Whether the service warns of documents that a rule concerns. */
function warns({ level, doubt }: Rule): boolean {
  return level === 'warning' && doubt === null;
}

/** The rules that clients are warned of, in the order of the table. */
export const WARNING_RULES: readonly Rule[] = ALL_RULES.filter(warns);

/** A rule that applies to a document, and where. */
export interface AppliedRule extends Concern {
  readonly rule: Rule;
}

/**
 * Finds the rules that apply to a document on its date: those that it breaks, those that are information, and those
 * that are off. Announced rules apply to no document. Refuses nothing and changes no amount.
 * @param date the date of the document in Morocco, `YYYY-MM-DD`
 * @param rules the requested rules
 */
export function rulesOn(date: string, document: RuledDocument, rules = ALL_RULES): AppliedRule[] {
  return rules.flatMap((rule) => {
    const day = (rule.byOriginal && document.correctedOn) || date;
    return isInForce(rule, day) ? rule.concerns(document, day).map((concern) => ({ rule, ...concern })) : [];
  });
}

/** Finds the rules that are in force on a day, come into force later, or are announced. @param date `YYYY-MM-DD` */
export function rulesFrom(date: string): Rule[] {
  return ALL_RULES.filter(({ validUntil }) => validUntil === null || validUntil >= date);
}

/** Whether a rule is law on a day. */
function isInForce({ status, validFrom, validUntil }: Rule, date: string): boolean {
  return status === 'in_force' && (validFrom ?? '') <= date && (validUntil === null || date <= validUntil);
}

/** Explains in English what a rule means for the document that it concerns, and how sure it is. */
export function explained({ rule, what }: AppliedRule): string {
  const { warning, says, doubt } = rule;
  const text = what ?? warning?.description ?? says.en;
  return [text, ...(doubt === null ? [] : [`This rule is off. ${doubt.en}`]), standingOf(rule)].join(' ');
}

/** States in English how sure a rule is: its law, since when, and its source. */
export function standingOf({ status, article, validFrom, validUntil, source, readOn }: Rule): string {
  const since = validFrom === null ? '' : ` since ${validFrom}`;
  const until = validUntil === null ? '' : ` until ${validUntil}`;
  const state = status === 'in_force' ? `Law in force${since}${until}` : 'Announced, not in force';
  return `${state}${article === null ? '' : `: ${article}`} (source: ${source}; read ${readOn}).`;
}
