import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useLanguage } from '../interface/language.tsx';
import { saveFile } from '../interface/save-file.ts';
import { formatNumber } from '../text/money.ts';
import { PERIOD_EXPORT_TEXTS, PERIOD_FILES, type PeriodFile } from '../text/period-exports.ts';
import { signInAddress } from '../workspace/session.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { Download, type Progress } from './download.ts';

/** A download that was interrupted or lacks documents, and what a click does about it. */
interface Halted {
  readonly download: Download;
  readonly file: PeriodFile;
  readonly problem: 'interrupted' | 'lacking';
}

/** The files of a period: buttons that download them, one at a time, with their progress. */
export function PeriodFiles({ period }: { readonly period: string }) {
  const { texts, language } = useLanguage();
  const { tenant, environment } = useWorkspace();
  const { route } = useLocation();
  const words = PERIOD_EXPORT_TEXTS[language];
  const [running, setRunning] = useState<AbortController | null>(null);
  const [progress, setProgress] = useState<Progress | null>(null);
  const [halted, setHalted] = useState<Halted | null>(null);
  const [told, setTold] = useState('');
  const ends = useRef<AbortController | null>(null);
  useEffect(() => () => ends.current?.abort(), []);

  async function run(download: Download, file: PeriodFile): Promise<void> {
    const end = new AbortController();
    ends.current = end;
    setRunning(end);
    setHalted(null);
    setTold('');
    const headers = { 'Fatoura-Tenant': tenant.tenantId, 'Fatoura-Environment': environment };
    const outcome = await download.run({ headers, onProgress: setProgress, signal: end.signal });
    setRunning(null);
    setProgress(null);
    if ('file' in outcome) {
      saveFile(outcome.file, `${file.replace('.', `-${period}.`)}`);
      return setTold(words.saved);
    }
    const { problem } = outcome;
    if (problem === 'signedOut') return route(signInAddress(), true);
    if (problem === 'interrupted' || problem === 'lacking') setHalted({ download, file, problem });
    setTold(problem === 'stopped' ? '' : words[problem]);
  }
  const begin = (file: PeriodFile, parameters = '') =>
    void run(new Download(`/exports/${period}/${file}${parameters}`), file);
  const ofLanguage = (file: PeriodFile) => (file === 'documents.zip' ? '' : `?lang=${language}`);

  return (
    <section class="card period-files">
      <h2>{words.title}</h2>
      <p class="actions">
        {PERIOD_FILES.map((file) => (
          <button
            key={file}
            type="button"
            class="secondary"
            disabled={running !== null}
            onClick={() => begin(file, ofLanguage(file))}
          >
            {words.files[file]}
          </button>
        ))}
      </p>
      {running && (
        <p>
          <Bar progress={progress} />{' '}
          <button type="button" class="secondary" onClick={() => running.abort()}>
            {texts.search.stop}
          </button>
        </p>
      )}
      <p role="status">{told}</p>
      {halted?.problem === 'interrupted' && (
        <button type="button" class="secondary" onClick={() => void run(halted.download, halted.file)}>
          {words.resume}
        </button>
      )}
      {halted?.problem === 'lacking' && (
        <button type="button" class="secondary" onClick={() => begin(halted.file, '?incomplete=true')}>
          {words.withoutThem}
        </button>
      )}
    </section>
  );
}

/** Shows the progress of a download as a bar with a text. */
function Bar({ progress }: { readonly progress: Progress | null }) {
  const { language } = useLanguage();
  const words = PERIOD_EXPORT_TEXTS[language];
  if (progress === null || progress.state === 'preparing') {
    return (
      <label>
        {words.preparing} <progress />
      </label>
    );
  }
  const { state, done, all } = progress;
  return (
    <label>
      {words[state](formatNumber(done, language), formatNumber(all, language))} <progress value={done} max={all} />
    </label>
  );
}
