import { z } from 'zod';
import { LARGEST_IN_PAGE, READ_BYTES } from '../answer-bounds.ts';
import { exactly, expected } from '../input-problems.ts';
import { PAGE_SIZE } from '../limits.ts';
import { INVOICE_STATUSES, STATUSES } from './lifecycle.ts';

const ISO_INSTANT =
  /^(?<day>\d{4}-\d{2}-\d{2})(?:T(?<minute>\d{2}:\d{2})(?::(?<second>\d{2})(?:[.,](?<fraction>\d+))?)?(?:Z|(?<hours>[+-]\d{2})(?::?(?<minutes>\d{2}))?))?$/;

/** The format that {@link parseInstant} accepts, for messages. */
export const INSTANT =
  'a date in ISO 8601, such as 2026-01-31 (which is its start in UTC), or an instant with a time zone, such as 2026-01-31T12:00:00Z';

/**
 * Parses an instant in the extended format of ISO 8601: `2026-01-31T12:00Z`, `…12:00:00,5+01`, `+0100`, `+01:00`. A
 * date alone means its start in UTC.
 * @returns null for anything else, also for a day that does not exist (Date would read 31 February as 3 March) and
 *   outside the years 0 to 9999 in UTC
 */
export function parseInstant(text: string): Date | null {
  const parts = ISO_INSTANT.exec(text)?.groups;
  if (!parts) return null;
  const { day, minute = '00:00', second = '00', fraction = '0', hours, minutes = '00' } = parts;
  const zone = hours === undefined ? 'Z' : `${hours}:${minutes}`;
  const instant = new Date(`${day}T${minute}:${second}.${fraction.slice(0, 3)}${zone}`);
  const start = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(instant.getTime()) || Number.isNaN(start.getTime())) return null;
  return start.toISOString().startsWith(`${day}T`) && /^\d/.test(instant.toISOString()) ? instant : null;
}

/** How a client requests the next page, in Markdown. */
export const NEXT_PAGE =
  'While `has_more` is true, `next_cursor` is the `starting_after` of the next page; with `ending_before` the id of the first object is the ' +
  '`ending_before` of the next one.';

/** Why a page may have fewer rows than `limit` (storage/pages.ts), in Markdown. */
export const SHORT_PAGES =
  `A page may have fewer than \`limit\` invoices: it ends before their total size exceeds ${READ_BYTES / 1024 / 1024} MiB, which more than ` +
  `${LARGEST_IN_PAGE} of the largest invoices do. Only \`has_more\` tells whether there is another page.`;

const once = z.string({ error: 'must be given once' });

const instant = once
  .refine((text) => parseInstant(text) !== null, { error: expected(`${INSTANT} (encode + as %2B)`) })
  // The refinement above guarantees a valid instant.
  .transform((text) => parseInstant(text) as Date)
  // Not `anyOf` with the format `date`: client generators would make a class of it instead of their date type.
  .meta({ format: 'date-time', examples: ['2026-01-31T12:00:00Z'] });

/** The statuses of an invoice (docs/api/contract.md, "States and transitions"). */
export const invoiceStatus = z
  .enum(INVOICE_STATUSES, { error: expected(`one of ${INVOICE_STATUSES.join(', ')}`) })
  .meta({
    id: 'InvoiceStatus',
    description: Object.entries(STATUSES)
      .map(([status, { description }]) => `- \`${status}\`: ${description}`)
      .join('\n'),
  });

/** The query parameters of GET /v1/invoices. */
export const listInvoicesQuery = exactly(
  {
    status: invoiceStatus.optional(),
    limit: once
      .refine((text) => /^[1-9]\d{0,2}$/.test(text) && Number(text) <= PAGE_SIZE.most, {
        error: expected(`an integer from 1 to ${PAGE_SIZE.most}`),
      })
      .transform(Number)
      .default(PAGE_SIZE.default)
      .meta({
        type: 'integer',
        minimum: 1,
        maximum: PAGE_SIZE.most,
        description: `Default: ${PAGE_SIZE.default}. ${SHORT_PAGES}`,
      }),
    starting_after: once
      .optional()
      .meta({ description: 'The id of the last object of the previous page, to get older ones.' }),
    ending_before: once
      .optional()
      .meta({ description: 'The id of the first object of a page, to get newer ones. Not with `starting_after`.' }),
    created_after: instant.optional().meta({
      description:
        'Created after this second: an instant with a time zone, or, beyond what `format` says, a date, which is its start in UTC: `2026-01-31` excludes that day’s first second.',
    }),
    created_before: instant.optional().meta({
      description:
        'Created before this second: an instant with a time zone, or, beyond what `format` says, a date, which is its start in UTC: `2026-01-31` includes everything up to the end of 30 January.',
    }),
  },
  'query parameters',
).refine(({ starting_after, ending_before }) => starting_after === undefined || ending_before === undefined, {
  error: 'cannot be combined with starting_after',
  path: ['ending_before'],
});
