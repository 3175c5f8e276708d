/** The maximum payment term that parties may agree on, in days after the invoice's date (law 69-21). */
export const LONGEST_TERM = 120;

/** All warnings by code: what is wrong, by which rule, and what to do. */
export const INVOICE_WARNINGS = {
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
  customer_address_missing: {
    description: "An invoice must state the buyer's address (CGI, art. 145-III).",
    remedy: 'Send customer.address.',
  },
  seller_field_missing: {
    description: 'The profile lacks mandatory data of the seller; test documents show specimen data instead.',
    remedy: "Complete the tenant's profile.",
  },
  exemption_reason_missing: {
    description: 'Lines at 0 % need the reason of their exemption (CGI, art. 91 and 92).',
    remedy: 'Add exemptionReason to the profile.',
  },
  operation_date_missing: {
    description: 'An invoice must state the date of the operation (CGI, art. 145-III).',
    remedy:
      'Send terms.operationDate (GraphQL), or set operationDateIsIssueDate in the profile if it is always the date of the invoice.',
  },
  due_date_missing: {
    description:
      "The invoice states no due date. If the parties agreed on none, law 69-21 sets it to 60 days after the invoice's date.",
    remedy: 'Send terms.dueDate (GraphQL), or set paymentTermDays in the profile.',
  },
  due_date_late: {
    description: `The due date is more than ${LONGEST_TERM} days after the invoice's date, the longest term that law 69-21 allows; a decree may allow a longer one for a sector.`,
    remedy: 'Check it, and paymentTermDays in the profile.',
  },
  payment_means_missing: {
    description: 'The payment mode is stated in words only (UNCL4461 code 1), which programs cannot read.',
    remedy: 'Send terms.paymentMeans (GraphQL), or set paymentMeans in the profile.',
  },
  payment_reference_missing: {
    description: 'An invoice must state the references of its payment (CGI, art. 145-III).',
    remedy:
      'Send terms.paymentReference (GraphQL). If the profile has paymentMeans or bankAccount, the reference defaults to the number of the invoice.',
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
} as const satisfies Readonly<Record<string, { readonly description: string; readonly remedy: string }>>;

export type WarningCode = keyof typeof INVOICE_WARNINGS;

/** A possible violation of a rule of law or of the tax authority, for which the service does not refuse the invoice. */
export interface InvoiceWarning {
  /** Stable, for programs. */
  readonly code: WarningCode;
  /** Dotted path of the field: `customer.address`, `seller.cnss`. */
  readonly path: string;
  /** Says what is wrong, by which rule, and what to do. */
  readonly message: string;
}
