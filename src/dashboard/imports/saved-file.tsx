import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useLanguage } from '../interface/language.tsx';
import { saveFile } from '../interface/save-file.ts';
import { Download } from '../periods/download.ts';
import { IMPORT_TEXTS } from '../text/imports.ts';
import type { Language } from '../text/languages.ts';
import { PERIOD_EXPORT_TEXTS } from '../text/period-exports.ts';
import { signInAddress } from '../workspace/session.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';

interface SavedFileProps {
  readonly path: string;
  /** The name under which it is saved. */
  readonly name: string;
  /** The language of the label. */
  readonly language: Language;
  readonly children: string;
}

/** A button that downloads a file with the person's session. */
export function SavedFile({ path, name, language: lang, children }: SavedFileProps) {
  const { language } = useLanguage();
  const { tenant, environment } = useWorkspace();
  const { route } = useLocation();
  const problems = PERIOD_EXPORT_TEXTS[language];
  const [isRunning, setRunning] = useState(false);
  const [told, setTold] = useState('');
  const ends = useRef<AbortController | null>(null);
  useEffect(() => () => ends.current?.abort(), []);

  async function save(): Promise<void> {
    const end = new AbortController();
    ends.current = end;
    setRunning(true);
    setTold('');
    const headers = { 'Fatoura-Tenant': tenant.tenantId, 'Fatoura-Environment': environment };
    const outcome = await new Download(path).run({ headers, onProgress: () => undefined, signal: end.signal });
    setRunning(false);
    if ('file' in outcome) {
      saveFile(outcome.file, name);
      return setTold(IMPORT_TEXTS[language].saved);
    }
    if (outcome.problem === 'signedOut') return route(signInAddress(), true);
    const { problem } = outcome;
    setTold(problem === 'busy' || problem === 'refused' || problem === 'interrupted' ? problems[problem] : '');
  }
  return (
    <>
      <button type="button" class="secondary" lang={lang} dir="auto" disabled={isRunning} onClick={() => void save()}>
        {children}
      </button>
      <span role="status">{told}</span>
    </>
  );
}
