import { z } from 'zod';
import { expected } from '../input-problems.ts';
import { printableText } from '../printable-text.ts';
import { CREDIT_REASONS, type CreditReason } from './credit.ts';
import { LIMITS } from './field-input.ts';

const REASONS = Object.keys(CREDIT_REASONS) as [CreditReason, ...CreditReason[]];

/** The rules of the reason in the inputs of credit notes. */
export const REASON = {
  reason: z.enum(REASONS, { error: expected(`one of ${REASONS.join(', ')}`) }),
  note: printableText(LIMITS.description, 'a string: the reason in words').nullish(),
};
