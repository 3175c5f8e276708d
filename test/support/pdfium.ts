import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('./pdfium.py', import.meta.url));
/** The interpreter that `.ci/run` installs. */
const INSTALLED = fileURLToPath(new URL('../../node_modules/.cache/pdfium/bin/python', import.meta.url));

/** The text that PDFium, the PDF reader of Chrome and Edge, extracts from a document. */
export interface PdfiumReading {
  /** The text of all pages. */
  readonly text: string;
  /** The words that PDFium's search does not find. */
  readonly missing: readonly string[];
}

/** PDFium through the Python package pypdfium2; null if no Python has it. */
export const pdfium = pythonWithPdfium();

function pythonWithPdfium(): ((pdf: Uint8Array, words?: readonly string[]) => PdfiumReading) | null {
  const python = [INSTALLED, 'python3'].find((each) => spawnSync(each, ['-c', 'import pypdfium2']).status === 0);
  if (python === undefined) return null;
  return (pdf, words = []) => {
    const folder = mkdtempSync(join(tmpdir(), 'fatoura-pdfium-'));
    try {
      const file = join(folder, 'it.pdf');
      writeFileSync(file, pdf);
      const input = JSON.stringify({ file, words });
      return JSON.parse(execFileSync(python, [SCRIPT], { input, encoding: 'utf8', maxBuffer: 100_000_000 }));
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
}
