import { PAYMENT_MEANS, type PaymentMeans } from '../../domain/payment-means.ts';
import { enumOf } from '../enum-of.ts';

const MEANINGS = Object.fromEntries(
  Object.entries(PAYMENT_MEANS).map(([name, { code, words }]) => [name, `${words.en}: UNCL4461 code ${code}.`]),
) as Record<PaymentMeans, string>;

export const PaymentMeansType = enumOf('PaymentMeans', 'The means of payment, as documents encode it.', {
  ...MEANINGS,
  transfer: `${MEANINGS.transfer.slice(0, -1)}, or 42 without an account.`,
});
