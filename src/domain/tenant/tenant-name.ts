import { OPERATOR_TEXTS } from '../limits.ts';
import { oneLineText } from '../printable-text.ts';

/** Input rule of a tenant's name: one line, because mails to people contain it. */
export const tenantName = oneLineText(OPERATOR_TEXTS.tenantName, 'the name of the tenant');
