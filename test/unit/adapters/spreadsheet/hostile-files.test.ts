import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UnreadableFile } from '../../../../src/domain/imports/reading.ts';
import { HOSTILE_FILES } from '../../../support/hostile-files.ts';
import { readSpreadsheet } from '../../../support/read-spreadsheet.ts';
import { slowness } from '../../../support/slowness.ts';

// Takes more than 2 s of CPU: some of the files are as large as they may be.

/** On an ordinary machine. Some take 1.5 s; those beyond a limit must not take more with their size. */
const LIMIT_MS = 6000;

describe('hostile files', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'hostile-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('are at least thirty', () => {
    expect(HOSTILE_FILES.length).toBeGreaterThanOrEqual(30);
  });

  it.each(HOSTILE_FILES)('$what is refused: $fault', async ({ fault, make }) => {
    const file = join(folder, 'file');
    writeFileSync(file, await make());
    const begin = process.threadCpuUsage();
    const refused = await readSpreadsheet(file).then(
      () => null,
      (error: unknown) => error,
    );
    const { user, system } = process.threadCpuUsage(begin);
    expect(refused).toBeInstanceOf(UnreadableFile);
    expect((refused as UnreadableFile).code).toBe(fault);
    // Of this thread, so that a loaded machine does not make it fail.
    expect((user + system) / 1000).toBeLessThan(LIMIT_MS * (await slowness()));
  });

  it('count cells without content, which the returned file has, too', async () => {
    const file = join(folder, 'separators.csv');
    writeFileSync(file, `Facture;Client;Désignation;PU HT\r\n1;A;B;2\r\n${`${';'.repeat(1_000_000)}\r\n`.repeat(3)}`);
    await expect(readSpreadsheet(file)).rejects.toMatchObject({ code: 'too_many_cells' });
  });

  it('have at most two million cells: the time of reading is that of the largest harmless file', async () => {
    const file = join(folder, 'cells.csv');
    writeFileSync(file, `Facture;Client;Désignation;PU HT\r\n${`${'1;'.repeat(200)}\r\n`.repeat(10_001)}`);
    await expect(readSpreadsheet(file)).rejects.toMatchObject({ code: 'too_many_cells', facts: { most: 2_000_000 } });
  });
});
