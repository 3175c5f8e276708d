import { UnreadableFile } from '../../domain/imports/reading.ts';
import type { Parts } from './read-zip.ts';
import { relationshipsOf, sheetsOf, workbookPath } from './workbook-parts.ts';

/** The paths of the parts of a workbook that a result needs. The result changes the first three. */
export interface WorkbookPlaces {
  readonly workbook: string;
  readonly sheet: string;
  /** The index of the sheet among all sheets, from 0. */
  readonly nth: number;
  /** Null if the workbook has no formats. */
  readonly styles: string | null;
  /** Null if the workbook has no shared texts. */
  readonly strings: string | null;
}

/** Finds the parts of a sheet by its name. @throws {UnreadableFile} if the workbook has no such sheet */
export async function workbookPlaces(parts: Parts, sheetName: string): Promise<WorkbookPlaces> {
  const workbook = await workbookPath(parts);
  const related = await relationshipsOf(parts, workbook);
  const { sheets } = await sheetsOf(parts, workbook);
  const nth = sheets.findIndex(({ name }) => name === sheetName);
  const sheet = related.get(sheets[nth]?.id ?? '');
  if (!sheet) throw new UnreadableFile('no_sheet');
  const pathOf = (type: string) =>
    related.values().find((each) => each.type === type && parts.paths.has(each.path))?.path ?? null;
  return { workbook, sheet: sheet.path, nth, styles: pathOf('styles'), strings: pathOf('sharedStrings') };
}
