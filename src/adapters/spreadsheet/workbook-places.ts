import { UnreadableFile } from '../../domain/imports/reading.ts';
import type { Parts } from './read-zip.ts';
import { relationshipsOf, sheetsOf, workbookPath } from './workbook-parts.ts';

/** The paths of the parts of a workbook that a result changes. */
export interface WorkbookPlaces {
  readonly sheet: string;
  /** Null if the workbook has no formats. */
  readonly styles: string | null;
}

/** Finds the parts of a sheet by its name. @throws {UnreadableFile} if the workbook has no such sheet */
export async function workbookPlaces(parts: Parts, sheetName: string): Promise<WorkbookPlaces> {
  const workbook = await workbookPath(parts);
  const related = await relationshipsOf(parts, workbook);
  const { sheets } = await sheetsOf(parts, workbook);
  const sheet = related.get(sheets.find(({ name }) => name === sheetName)?.id ?? '');
  if (!sheet) throw new UnreadableFile('no_sheet');
  const styles = related.values().find(({ type, path }) => type === 'styles' && parts.paths.has(path));
  return { sheet: sheet.path, styles: styles?.path ?? null };
}
