import { useEffect, useRef, useState } from 'preact/hooks';
import { useLanguage } from '../interface/language.tsx';
import { saveFile } from '../interface/save-file.ts';
import { moroccanDate } from '../text/moroccan-time.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { exportInvoices } from './export-invoices.ts';
import type { Filter } from './invoice-filter.ts';

/** Exports all pages of the list, and shows the progress. */
export function ExportButton({ filter }: { filter: Filter }) {
  const { texts, language } = useLanguage();
  const { client, environment } = useWorkspace();
  const [told, setTold] = useState('');
  const [running, setRunning] = useState<AbortController | null>(null);
  const ends = useRef<AbortController | null>(null);
  useEffect(() => () => ends.current?.abort(), []);
  const { search } = texts;

  async function run(): Promise<void> {
    const end = new AbortController();
    ends.current = end;
    setRunning(end);
    setTold(search.exporting(0));
    let count = 0;
    try {
      const file = await exportInvoices(client, {
        filter,
        language,
        texts,
        signal: end.signal,
        onProgress(read) {
          count = read;
          setTold(search.exporting(read));
        },
      });
      if (file) saveFile(file, `fatoura-${environment}-${moroccanDate(new Date())}.csv`);
      setTold(file ? search.exported(count) : '');
    } catch {
      setTold(search.exportFailed);
    }
    setRunning(null);
  }
  return (
    <p class="export">
      {running ? (
        <button type="button" class="secondary" onClick={() => running.abort()}>
          {search.stop}
        </button>
      ) : (
        <button type="button" class="secondary" onClick={() => void run()}>
          {search.export}
        </button>
      )}{' '}
      <span role="status">{told}</span>
    </p>
  );
}
