import readSpreadsheet from 'read-excel-file/node';

/** Reads a spreadsheet with a library that did not write it: the name of its only sheet, and its rows. */
export async function readSheet(bytes: ArrayBuffer): Promise<{ name: string; rows: unknown[][] }> {
  const [sheet, ...others] = await readSpreadsheet(Buffer.from(bytes));
  if (!sheet || others.length > 0) throw new Error(`the file has ${others.length + 1} sheets`);
  return { name: sheet.sheet, rows: sheet.data };
}
