/** The longest payment term that parties may agree on, in days after the invoice's date (law 69-21). */
export const LONGEST_TERM = 120;

/** All warnings by code: what is wrong, by which rule, and what to do. */
export const INVOICE_WARNINGS = {
  rounding: {
    meaning: 'The amount is not that of the lines with their VAT to the centime; the document states the difference.',
    remedy: 'Compute VAT once per rate on the summed lines and round it half up.',
  },
  ice_zero: { meaning: "The ICE is all zeros, which is nobody's.", remedy: 'Check it.' },
  ice_check_key: {
    meaning: 'The check key of the ICE (its last two digits) does not fit: a digit may be wrong.',
    remedy: 'Check it.',
  },
  customer_is_seller: { meaning: "The customer's ICE is the seller's own.", remedy: 'Check it with the customer.' },
  customer_address_missing: {
    meaning: "An invoice must state the buyer's address (CGI, art. 145-III).",
    remedy: 'Send customer.address.',
  },
  seller_field_missing: {
    meaning: 'The profile lacks what an invoice must state of the seller; the specimen stands in for it.',
    remedy: "Complete the tenant's profile.",
  },
  exemption_reason_missing: {
    meaning: 'Lines at 0 % need the reason of their exemption (CGI, art. 91 and 92).',
    remedy: 'Add exemptionReason to the profile.',
  },
  operation_date_missing: {
    meaning: 'An invoice must state the date of the operation (CGI, art. 145-III).',
    remedy:
      'Send terms.operationDate (GraphQL), or set operationDateIsIssueDate in the profile where it is the day of the invoice.',
  },
  due_date_missing: {
    meaning:
      "The invoice states no due date. Where the parties agreed none, law 69-21 makes it 60 days after the invoice's date.",
    remedy: 'Send terms.dueDate (GraphQL), or set paymentTermDays in the profile.',
  },
  due_date_late: {
    meaning: `The due date is more than ${LONGEST_TERM} days after the invoice's date, the longest that law 69-21 lets parties agree; a decree may allow a sector more.`,
    remedy: 'Check it, and paymentTermDays in the profile.',
  },
  payment_means_missing: {
    meaning: 'The payment mode is stated in words only (UNCL4461 code 1), which programs can not read.',
    remedy: 'Send terms.paymentMeans (GraphQL), or set paymentMeans in the profile.',
  },
  payment_reference_missing: {
    meaning: 'An invoice must state the references of its payment (CGI, art. 145-III).',
    remedy:
      'Send terms.paymentReference (GraphQL); with paymentMeans or bankAccount in the profile it is the number of the invoice.',
  },
  bank_account_missing: {
    meaning: 'The invoice is to be paid by bank transfer and states no account.',
    remedy: 'Send terms.bankAccount (GraphQL), or set bankAccount in the profile.',
  },
  unprintable_characters: {
    meaning:
      'A text has characters that the PDF shows as \ufffd, because none of its fonts has them. The XML holds them.',
    remedy: 'Write the text in Latin or Arabic letters as well.',
  },
} as const satisfies Readonly<Record<string, { readonly meaning: string; readonly remedy: string }>>;

export type WarningCode = keyof typeof INVOICE_WARNINGS;

/**
 * A possible violation of a legal rule or of the tax authority's rules, for which the service does not refuse the
 * invoice.
 */
export interface InvoiceWarning {
  /** Stable, for programs. */
  readonly code: WarningCode;
  /** Dotted path of the field: `customer.address`, `seller.cnss`. */
  readonly path: string;
  /** What is wrong, by which rule, and what to do. */
  readonly message: string;
}
