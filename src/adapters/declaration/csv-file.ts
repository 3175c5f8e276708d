import type { DocumentLanguage } from '../../domain/document-language.ts';
import type { DeclaredDocument } from '../../domain/invoice/periods/declared-document.ts';
import { BYTE_ORDER_MARK, csvLine } from '../../text/csv.ts';
import type { Column } from './columns.ts';

/** Writes a declaration as CSV, in the form of the export of a list. */
export async function* writeCsv(
  columns: readonly Column[],
  batches: AsyncIterable<readonly DeclaredDocument[]>,
  { language }: { readonly language: DocumentLanguage },
): AsyncGenerator<Uint8Array, void, void> {
  const headings = columns.map(({ heading }) => heading);
  yield Buffer.from(BYTE_ORDER_MARK + csvLine(headings, language));
  for await (const batch of batches) {
    const lines = batch.map((document) =>
      csvLine(
        columns.map(({ cellOf }) => cellOf(document)),
        language,
      ),
    );
    yield Buffer.from(lines.join(''));
  }
}
