import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Import } from '../../../../src/domain/imports/import.ts';
import { createImportFeed } from '../../../../src/domain/imports/import-feed.ts';
import { watchImport } from '../../../../src/domain/imports/watch-import.ts';
import type { Member } from '../../../../src/domain/principal.ts';
import { anImport } from '../../../support/imports.ts';

const OWNER = { tenantId: 'ten_1', environment: 'test' } as const;
const BY = { kind: 'secret', tenant: { id: 'ten_1' }, environment: 'test' } as Member;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watched(first: Partial<Import>) {
  let present: Import | null = anImport(OWNER, 'a', first);
  const { id } = present;
  const findMany = vi.fn(async () => (present ? [present] : []));
  const importFeed = createImportFeed({ findMany }, () => undefined);
  const imports = { find: async () => present };
  return {
    findMany,
    watch: () => watchImport.run({ imports, importFeed }, { by: BY }, id),
    change(changes: Partial<Import> | null) {
      present = present && changes && { ...present, ...changes };
    },
  };
}

it('sends the state and then the latest one after changes, at most twice a second, until nothing changes', async () => {
  const { watch, change, findMany } = watched({ status: 'reading' });
  const states = await watch();
  expect((await states.next()).value).toMatchObject({ imported: { status: 'reading' } });
  const second = states.next();
  change({ failure: null });
  change({ status: 'checked' });
  await vi.advanceTimersByTimeAsync(500);
  expect((await second).value).toMatchObject({ imported: { status: 'checked' } });
  expect(await states.next()).toEqual({ done: true, value: undefined });
  const looks = findMany.mock.calls.length;
  await vi.advanceTimersByTimeAsync(5000);
  expect(findMany.mock.calls.length).toBe(looks);
});

it('ends at once at rest, when the import is discarded, and while it waits when its reader leaves', async () => {
  const rested = await watched({ status: 'done', isSettled: true }).watch();
  expect((await rested.next()).done).toBe(false);
  expect((await rested.next()).done).toBe(true);

  const { watch, change } = watched({ status: 'issuing' });
  const [discarded, left] = [await watch(), await watch()];
  await discarded.next();
  await left.next();
  const waiting = left.next();
  await left.return?.();
  expect((await waiting).done).toBe(true);
  const last = discarded.next();
  change(null);
  await vi.advanceTimersByTimeAsync(500);
  expect((await last).done).toBe(true);
});
