import type { DocumentLanguage } from '../../document-language.ts';
import { serviceError } from '../../errors.ts';
import { takeTurn } from '../../event-loop-turns.ts';
import type { Owner } from '../../tenant/tenant.ts';
import type { Invoice } from '../invoice.ts';
import { KIND_NAMES, type Kind } from '../kinds.ts';
import { type DeclaredDocument, declaredOf } from './declared-document.ts';
import { daysOf, type Period } from './period.ts';
import type { DeclarationFormat, PeriodBatch, PeriodDocuments, PeriodSums, WriteDeclaration } from './ports.ts';

/** Maximum number of documents of a declaration. A sheet has 1,048,576 rows. */
const MAX_DECLARED = 1_000_000;
/** Work per document and per line, in units of `takeTurn`. */
const [DOCUMENT_UNITS, LINE_UNITS] = [60, 4];

/** A request for a declaration. */
export interface AskedDeclaration {
  readonly format: DeclarationFormat;
  readonly language: DocumentLanguage;
}

/**
 * Begins the file of a seller's declaration of VAT: the documents that were issued in a period and accepted, invoices
 * before credit notes, each in the order of their numbers. One batch is in memory at a time. The work ends when the
 * client stops reading.
 * @throws {ServiceError} invalid_request for a period with more than 1,000,000 documents
 */
export type ExportDeclaration = (
  owner: Owner,
  period: Period,
  asked: AskedDeclaration,
) => Promise<AsyncIterable<Uint8Array>>;

export function createExportDeclaration(
  periodSums: Pick<PeriodSums, 'days'>,
  periodDocuments: Pick<PeriodDocuments, 'accepted'>,
  writeDeclaration: WriteDeclaration,
): ExportDeclaration {
  return async (owner, period, { format, language }) => {
    await requireCount(periodSums, owner, period, MAX_DECLARED);
    const batches = batchesOf((kind, after) => periodDocuments.accepted(owner, kind, period, after));
    return writeDeclaration(format, declared(batches), period.name, language);
  };
}

/**
 * Refuses a period with too many accepted documents. Counts them by the sums, which lag behind the documents by some
 * seconds.
 * @throws {ServiceError} invalid_request
 */
export async function requireCount(
  sums: Pick<PeriodSums, 'days'>,
  owner: Owner,
  period: Period,
  most: number,
): Promise<void> {
  const days = await sums.days(owner, daysOf(period));
  const accepted = days.flatMap((day) => day.sums.filter(({ status }) => status === 'accepted'));
  const count = accepted.reduce((sum, each) => sum + each.count, 0);
  if (count <= most) return;
  const message = `The period ${period.name} has ${count} documents, and a file has ${most} at most: ask for a shorter one.`;
  throw serviceError('invalid_request', message, 'period');
}

/** Yields the batches of all kinds of documents, one kind after the other. */
export async function* batchesOf<Row>(
  read: (kind: Kind, after: string | null) => Promise<PeriodBatch<Row>>,
): AsyncGenerator<readonly Row[], void, void> {
  for (const kind of KIND_NAMES) {
    for (let after: string | null = null; ; ) {
      const { rows, next }: PeriodBatch<Row> = await read(kind, after);
      if (rows.length > 0) yield rows;
      if (next === null) break;
      after = next;
    }
  }
}

async function* declared(
  batches: AsyncIterable<readonly Invoice[]>,
): AsyncGenerator<readonly DeclaredDocument[], void, void> {
  for await (const batch of batches) {
    const documents: DeclaredDocument[] = [];
    for (const invoice of batch) {
      await takeTurn(DOCUMENT_UNITS + LINE_UNITS * invoice.lines.length);
      documents.push(declaredOf(invoice));
    }
    yield documents;
  }
}
