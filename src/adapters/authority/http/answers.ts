import { z } from 'zod';
import type { Capabilities, HeldSubmission, LedgerEntry, Problem } from '../../../domain/authority/ports.ts';
import { waitOf } from './retry-after.ts';

/** Longest error message that is kept. It is written to logs and to an invoice's timeline. */
const MAX_ERROR_MESSAGE = 1000;

const text = (longest: number) =>
  z
    .string()
    .min(1)
    .max(longest)
    .transform((value) => value.toWellFormed());
/**
 * An id that is stored, printed and used in URL paths. `.` and `..` are refused, because they would change the path.
 */
const id = z.string().regex(/^(?!\.{1,2}$)[\x21-\x7e]{1,200}$/);
const digest = z.string().regex(/^[0-9a-f]{64}$/);
const time = z.iso.datetime({ offset: true }).transform((value) => new Date(value));

const problem = z.object({
  code: text(1000),
  path: z
    .string()
    .nullish()
    .transform((path) => path?.toWellFormed() ?? null),
  message: z.string().transform((message) => message.toWellFormed()),
}) satisfies z.ZodType<Problem>;

const common = {
  id,
  digest,
  problems: z.array(problem).default([]),
  warnings: z.array(problem).default([]),
  retry_after: z.number().nonnegative().nullish(),
};

/** A submission as the protocol writes it. Fields that its status does not require are ignored. */
const submissionBody = z.discriminatedUnion('status', [
  z.object({ ...common, status: z.enum(['received', 'processing']) }),
  z.object({ ...common, status: z.literal('accepted'), decided_at: time, dgi_id: id }),
  z.object({ ...common, status: z.literal('rejected'), decided_at: time }),
]);

/** A submission as the authority reports it. */
interface ReportedSubmission extends HeldSubmission {
  /** Lower-case hex. */
  readonly sha256: string;
}

const submission = submissionBody.transform((body): ReportedSubmission => {
  const { id: submissionId, digest: sha256, warnings } = body;
  const base = { submissionId, sha256, warnings };
  if (body.status === 'accepted') {
    const decision = { outcome: 'accepted', dgiId: body.dgi_id, decidedAt: body.decided_at } as const;
    return { ...base, decision, askAgainAfter: null };
  }
  if (body.status === 'rejected') {
    const decision = { outcome: 'rejected', problems: body.problems, decidedAt: body.decided_at } as const;
    return { ...base, decision, askAgainAfter: null };
  }
  return { ...base, decision: null, askAgainAfter: waitOf(body.retry_after ?? null) };
});

const errorBody = z.object({
  error: z.object({
    code: z.string().regex(/^[\x21-\x7e]{1,100}$/),
    message: z.string().transform((message) => message.slice(0, MAX_ERROR_MESSAGE).toWellFormed()),
    held_digest: digest.nullish().catch(null),
    original: submission.nullish().catch(null),
  }),
});
export type ReportedError = z.output<typeof errorBody>['error'];

const changesBody = z.object({
  data: z.array(submission),
  next_cursor: z.string().min(1).max(1000),
  high_water_mark: z.string().min(1).max(1000),
});

const count = z.number().int().positive().max(Number.MAX_SAFE_INTEGER);
const capabilitiesBody = z
  .object({
    protocol: z.literal('1'),
    decision: z.enum(['synchronous', 'polling', 'callback']),
    // Kinds of look-up that this version does not know are ignored.
    lookup: z.array(z.string().max(100)).max(100),
    cleared_document: z.boolean(),
    max_document_bytes: count,
    limits: z.object({
      submissions_per_minute: count,
      lookups_per_minute: count,
      lookups_per_submission_per_hour: count,
      concurrent: count,
    }),
  })
  .transform(
    ({ decision, lookup, cleared_document, max_document_bytes, limits }): Capabilities => ({
      decision,
      lookUp: (['id', 'digest'] as const).filter((kind) => lookup.includes(kind)),
      clearedDocument: cleared_document,
      maxDocumentBytes: max_document_bytes,
      limits: {
        submissionsPerMinute: limits.submissions_per_minute,
        lookUpsPerMinute: limits.lookups_per_minute,
        lookUpsPerSubmissionPerHour: limits.lookups_per_submission_per_hour,
        concurrent: limits.concurrent,
      },
    }),
  );

/** This reader and those below return null if the body does not follow the protocol. */
export const readSubmission = reader(submission);
export const readFound = reader(z.object({ data: z.array(submission) }).transform(({ data }) => data));
export const readError = reader(errorBody.transform(({ error }): ReportedError => error));
export const readCapabilities = reader(capabilitiesBody);

/** Reads a page of decisions. Returns null also if it contains a submission without a decision. */
export function readChanges(
  body: Uint8Array,
): { entries: LedgerEntry[]; nextCursor: string; highWaterMark: string } | null {
  const read = reader(changesBody)(body);
  if (read === null) return null;
  const entries = read.data.flatMap(({ submissionId, sha256, decision }) =>
    decision === null ? [] : [{ submissionId, sha256, decision }],
  );
  if (entries.length !== read.data.length) return null;
  return { entries, nextCursor: read.next_cursor, highWaterMark: read.high_water_mark };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function reader<T>(schema: z.ZodType<T>): (body: Uint8Array) => T | null {
  return (body) => {
    let value: unknown;
    try {
      value = JSON.parse(utf8.decode(body));
    } catch {
      return null;
    }
    const parsed = schema.safeParse(value);
    return parsed.success ? parsed.data : null;
  };
}
