import type { Rule } from '../morocco/rule.ts';
import { RULE_WARNINGS, type WarningRuleCode } from '../morocco/rules.ts';

interface WarningTexts {
  /** What is wrong, by which rule. */
  readonly description: string;
  /** What to do. */
  readonly remedy: string;
}

/**
 * The warnings that rest on no rule of law: suspicious values, and content that programs or readers of the PDF miss.
 */
const OTHER_WARNINGS = {
  rounding: {
    description:
      'The amount differs from the total of the lines with their VAT by some centimes; the document states the difference.',
    remedy: 'Compute VAT once per rate on the summed lines and round it half up.',
  },
  ice_zero: { description: "The ICE is all zeros, which is no company's ICE.", remedy: 'Check it.' },
  ice_check_key: {
    description: 'The check key of the ICE (its last two digits) does not match: a digit may be wrong.',
    remedy: 'Check it.',
  },
  customer_is_seller: { description: "The customer's ICE is the seller's own.", remedy: 'Check it with the customer.' },
  payment_means_missing: {
    description: 'The payment mode is stated in words only (UNCL4461 code 1), which programs cannot read.',
    remedy: 'Send terms.paymentMeans (GraphQL), or set paymentMeans in the profile.',
  },
  bank_account_missing: {
    description: 'The invoice is to be paid by bank transfer but states no account.',
    remedy: 'Send terms.bankAccount (GraphQL), or set bankAccount in the profile.',
  },
  unprintable_characters: {
    description:
      'A text has characters that the PDF shows as \ufffd, because none of its fonts has them, or because they would make the text look like another one. The XML holds them.',
    remedy: 'Write the text in Latin or Arabic letters as well, without controls that change its direction.',
  },
} as const satisfies Readonly<Record<string, WarningTexts>>;

export type WarningCode = keyof typeof OTHER_WARNINGS | WarningRuleCode;

/** All warnings by code: what is wrong, by which rule, and what to do. Those of law are rules of Morocco. */
export const INVOICE_WARNINGS: Readonly<Record<WarningCode, WarningTexts>> = { ...OTHER_WARNINGS, ...RULE_WARNINGS };

/** A possible violation of a rule of law or of the tax authority, for which the service does not refuse the invoice. */
export interface InvoiceWarning {
  /** Stable, for programs. */
  readonly code: WarningCode;
  /** Dotted path of the field: `customer.address`, `seller.cnss`. */
  readonly path: string;
  /** Says what is wrong, by which rule, and what to do. */
  readonly message: string;
  /** The rule of law; absent if there is none. */
  readonly rule?: Rule;
}
