import { CUSTOMER_KINDS } from '../../domain/invoice/customer-kind.ts';
import { enumOf } from '../enum-of.ts';

export const CustomerKindType = enumOf(
  'CustomerKind',
  'What a customer is. It decides whether the customer has an ICE, or a country and a tax number.',
  CUSTOMER_KINDS,
);
