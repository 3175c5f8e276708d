import { useEffect, useState } from 'preact/hooks';
import { whileSeen } from '../interface/while-seen.ts';
import { type Read, useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { IMPORT, IMPORT_PROGRESS, type Imported, type ImportProgress } from './documents.ts';

/** Reads an import and follows its progress while it changes by itself. */
export function useImport(id: string): Read<Imported> {
  const { client } = useWorkspace();
  const { data, problem, reload } = useRead(IMPORT, { id });
  const read = data?.import ?? null;
  const [progress, setProgress] = useState<ImportProgress | null>(null);
  // A newly read import is newer than the progress before it.
  useEffect(() => setProgress(null), [read]);
  // The reading of the file is no part of the progress, so the next status is shown only when the import is read.
  const shown = read && { ...read, ...progress, status: read.status };
  const latest = progress ?? read;
  const isMoving = latest !== null && changesByItself(latest);
  useEffect(() => {
    if (!isMoving) return;
    return whileSeen(() => {
      const followed = client.subscription(IMPORT_PROGRESS, { id }).subscribe(({ data }) => {
        if (data) setProgress(data.importProgress);
      });
      return () => followed.unsubscribe();
    });
  }, [client, id, isMoving]);
  useEffect(() => {
    if (read && progress && progress.status !== read.status) reload();
  }, [progress?.status]);
  return { data: shown, problem, reload };
}

function changesByItself({ status, settled }: Pick<Imported, 'status' | 'settled'>): boolean {
  return status === 'reading' || status === 'issuing' || (status === 'done' && !settled);
}
