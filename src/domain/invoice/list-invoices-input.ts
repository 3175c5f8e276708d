import { z } from 'zod';
import { exactly, expected } from '../input-problems.ts';
import { INVOICE_STATUSES } from './lifecycle.ts';

const ISO_INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/;

/** What {@link parseInstant} takes, for messages. */
export const INSTANT = 'an ISO 8601 instant with a time zone, such as 2026-01-31T12:00:00Z';

/** An instant with its zone; null when it is not one, also on a day that no calendar has: Date takes 31 February for 3 March. */
export function parseInstant(text: string): Date | null {
  if (!ISO_INSTANT.test(text)) return null;
  const [instant, day] = [new Date(text), new Date(`${text.slice(0, 10)}T00:00:00Z`)];
  if (Number.isNaN(instant.getTime()) || Number.isNaN(day.getTime())) return null;
  return day.toISOString().startsWith(text.slice(0, 10)) ? instant : null;
}

const once = z.string({ error: 'must be given once' });

const instant = once
  .refine((text) => parseInstant(text) !== null, { error: expected(`${INSTANT} (a + is written %2B)`) })
  .transform((text) => new Date(text))
  .meta({ format: 'date-time', examples: ['2026-01-31T12:00:00Z'] });

/** The query parameters of GET /v1/invoices. */
export const listInvoicesQuery = exactly(
  {
    status: z.enum(INVOICE_STATUSES, { error: expected(`one of ${INVOICE_STATUSES.join(', ')}`) }).optional(),
    limit: once
      .refine((text) => /^[1-9]\d{0,2}$/.test(text) && Number(text) <= 100, {
        error: expected('an integer from 1 to 100'),
      })
      .transform(Number)
      .default(20)
      .meta({ type: 'integer', minimum: 1, maximum: 100, description: '20 unless given.' }),
    starting_after: once
      .optional()
      .meta({ description: 'The id of the last object of the previous page: goes on to older ones.' }),
    ending_before: once
      .optional()
      .meta({ description: 'The id of the first object: goes back to newer ones. Not with `starting_after`.' }),
    created_after: instant.optional().meta({ description: 'Created after this second.' }),
    created_before: instant.optional().meta({ description: 'Created before this second.' }),
  },
  'query parameters',
);
