import { UnreadableFile } from '../../domain/imports/reading.ts';
import type { Parts } from './read-zip.ts';
import { relationshipsOf, sheetsOf, workbookPath } from './workbook-parts.ts';

/** The paths of the parts of a workbook that a result needs. It changes the first two. */
export interface WorkbookPlaces {
  readonly sheet: string;
  /** Null if the workbook has no formats. */
  readonly styles: string | null;
  /** Null if the workbook shares no texts. */
  readonly strings: string | null;
}

/** Finds the parts of a sheet by its name. @throws {UnreadableFile} if the workbook has no such sheet */
export async function workbookPlaces(parts: Parts, sheetName: string): Promise<WorkbookPlaces> {
  const workbook = await workbookPath(parts);
  const related = await relationshipsOf(parts, workbook);
  const { sheets } = await sheetsOf(parts, workbook);
  const sheet = related.get(sheets.find(({ name }) => name === sheetName)?.id ?? '');
  if (!sheet) throw new UnreadableFile('no_sheet');
  const pathOf = (type: string) =>
    related.values().find((each) => each.type === type && parts.paths.has(each.path))?.path ?? null;
  return { sheet: sheet.path, styles: pathOf('styles'), strings: pathOf('sharedStrings') };
}
