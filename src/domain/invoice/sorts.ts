/** The orders of a list, with the beginning of each. Each is read by an index that the filters need, too. */
export const SORTS = {
  newest: 'Newest first.',
  oldest: 'Oldest first.',
  amount: 'By the amount payable, the least first; newest first among equal ones. Only with `kind`.',
  amount_descending: 'The reverse of `amount`. Only with `kind`.',
  customer:
    'By the name of the customer, without regard to case and accents; newest first among equal ones. Only with `kind`.',
  customer_descending: 'The reverse of `customer`. Only with `kind`.',
  number:
    'By the legal number, series by series: those of invoices by year, those of credit notes, then your own numbers. Documents without a number are not in it. Only with `kind`.',
  number_descending: 'The reverse of `number`. Only with `kind`.',
} as const;

export type Sort = keyof typeof SORTS;
