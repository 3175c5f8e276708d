import { hash } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Invoice, StoredDocument } from '../../../src/domain/invoice/invoice.ts';
import { createExportArchive, MAX_ARCHIVED } from '../../../src/domain/invoice/periods/export-archive.ts';
import { periodNamed } from '../../../src/domain/invoice/periods/period.ts';
import type { FiledDocument } from '../../../src/domain/invoice/periods/ports.ts';
import { unzipped } from '../../support/zip.ts';

const OWNER = { tenantId: 'ten_1', environment: 'test' } as const;
const JULY = periodNamed('2026-07');
const NOW = new Date('2026-08-01T09:00:00Z');
const NEW = { earlier: null, mayLack: false };

const BYTES = Buffer.from('a file');
const STORED: StoredDocument = {
  ...({ id: 'doc_1', contentType: 'application/xml' } as object),
  size: BYTES.length,
  sha256: hash('sha256', BYTES),
} as StoredDocument;

function filed(id: string, changes: Partial<FiledDocument> = {}): FiledDocument {
  const createdAt = new Date('2026-07-15T12:00:00Z');
  return {
    id,
    kind: 'invoice',
    createdAt,
    updatedAt: createdAt,
    number: id,
    ownNumber: null,
    xml: STORED,
    cleared: null,
    awaitsCleared: false,
    pdf: STORED,
    ...changes,
  };
}

/** An export of these documents. @param made the files that exist once they were waited for, as `id kind` */
function exportOf(stored: FiledDocument[], made: readonly string[] = [], accepted = stored.length) {
  const lists: Date[] = [];
  const awaited: string[] = [];
  const exportArchive = createExportArchive({
    periodSums: {
      days: async () => [{ date: '2026-07-15', sums: [{ status: 'accepted', count: accepted }] }] as never,
    },
    periodDocuments: {
      async filed(_owner, kind, _period, until) {
        if (kind !== 'invoice') return { rows: [], next: null };
        lists.push(until);
        return { rows: stored.filter(({ updatedAt }) => updatedAt <= until), next: null };
      },
    },
    documents: { get: async () => BYTES },
    invoices: { find: async (id) => ({ id }) as Invoice },
    demand: {
      async await({ id }, kind) {
        awaited.push(`${id} ${kind}`);
        if (!made.includes(`${id} ${kind}`)) return null;
        stored.splice(0, stored.length, ...stored.map((each) => (each.id === id ? { ...each, [kind]: STORED } : each)));
        return { id } as Invoice;
      },
    },
    clock: () => NOW,
  });
  return { exportArchive, lists, awaited };
}

const after = (ms: number) => new Date(NOW.getTime() + ms);

it('a document that was accepted by a clock that is ahead is not left out', async () => {
  const { exportArchive } = exportOf([filed('inv_1'), filed('inv_2', { updatedAt: after(30) })]);
  const archive = await exportArchive(OWNER, JULY, NEW);
  expect([archive.documents, archive.until]).toEqual([2, after(30)]);
  const files = await unzipped(Buffer.concat(await Array.fromAsync(archive.read())));
  expect(files.size).toBe(5);
});

it('an archive that is resumed has what it had, or is one of now', async () => {
  const stored = [filed('inv_1')];
  const { exportArchive } = exportOf(stored);
  const { until, digest } = await exportArchive(OWNER, JULY, NEW);
  stored.push(filed('inv_2', { updatedAt: NOW }));
  const resumed = await exportArchive(OWNER, JULY, { earlier: { until, digest }, mayLack: false });
  expect([resumed.documents, resumed.until, resumed.digest]).toEqual([1, until, digest]);
  const other = await exportArchive(OWNER, JULY, { earlier: { until, digest: '0'.repeat(64) }, mayLack: false });
  expect([other.documents, other.until]).toEqual([2, NOW]);
});

it('the documents are listed again only if a missing file was made', async () => {
  const lacking = () => [filed('inv_1', { pdf: null }), filed('inv_2', { pdf: null })];
  const none = exportOf(lacking());
  expect(await none.exportArchive(OWNER, JULY, NEW)).toMatchObject({ incomplete: 2, isReady: false });
  expect(none.lists).toHaveLength(1);
  const one = exportOf(lacking(), ['inv_2 pdf']);
  expect(await one.exportArchive(OWNER, JULY, NEW)).toMatchObject({ incomplete: 1, isReady: false });
  expect(one.lists).toHaveLength(2);
  const both = exportOf(lacking(), ['inv_1 pdf', 'inv_2 pdf']);
  expect(await both.exportArchive(OWNER, JULY, NEW)).toMatchObject({ incomplete: 0, isReady: true });
});

it('XMLs that never come do not keep a later PDF from being drawn', async () => {
  const never = Array.from({ length: 100 }, (_, i) => filed(`inv_${i}`, { awaitsCleared: true }));
  const { exportArchive, awaited } = exportOf([...never, filed('inv_last', { pdf: null })], ['inv_last pdf']);
  expect(await exportArchive(OWNER, JULY, NEW)).toMatchObject({ incomplete: 100 });
  expect(awaited).toContain('inv_last pdf');
  expect(awaited.length).toBeLessThan(100);
});

it('a period with too many documents is refused before they are listed', async () => {
  const { exportArchive, lists } = exportOf([], [], MAX_ARCHIVED + 1);
  await expect(exportArchive(OWNER, JULY, NEW)).rejects.toMatchObject({ code: 'invalid_request', param: 'period' });
  expect(lists).toEqual([]);
  await exportOf([], [], MAX_ARCHIVED).exportArchive(OWNER, JULY, NEW);
});
