import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { IMPORT_DAYS, IMPORT_LIMITS } from '../../domain/imports/limits.ts';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import type { Reason } from '../text/errors.ts';
import { IMPORT_TEXTS } from '../text/imports.ts';
import { useConfirmation } from '../workspace/confirmation.tsx';
import { signInAddress } from '../workspace/session.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { upload } from './upload.ts';

const MEGABYTES = IMPORT_LIMITS.fileBytes / 1024 / 1024;

/** Takes a file by a drop or a button, and leads to its import. */
export function UploadCard() {
  const { texts, language } = useLanguage();
  const { tenant, environment, address } = useWorkspace();
  const { route } = useLocation();
  const confirm = useConfirmation();
  const words = IMPORT_TEXTS[language];
  const [running, setRunning] = useState<AbortController | null>(null);
  const [refusal, setRefusal] = useState<Reason | null>(null);
  const [told, setTold] = useState('');
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const ends = useRef<AbortController | null>(null);
  const id = useId();
  useEffect(() => () => ends.current?.abort(), []);

  async function send(file: File | undefined): Promise<void> {
    if (!file || running) return;
    setRefusal(null);
    if (file.size > IMPORT_LIMITS.fileBytes) return setTold(words.tooLarge(MEGABYTES));
    const end = new AbortController();
    ends.current = end;
    setRunning(end);
    setTold(words.uploading);
    const headers = { 'Fatoura-Tenant': tenant.tenantId, 'Fatoura-Environment': environment };
    const run = () => upload(file, { headers, language, signal: end.signal });
    let sent = await run();
    if (isUnconfirmed(sent) && (await confirm())) sent = await run();
    setRunning(null);
    setTold('');
    // The same file can be chosen again after it was changed.
    if (input.current) input.current.value = '';
    if ('id' in sent) return route(`${address}/imports/${sent.id}`);
    if ('problem' in sent) return route(signInAddress(), true);
    if (end.signal.aborted) return;
    if (sent.refusal === 'unreachable') return setTold(words.interrupted);
    setRefusal(sent.refusal);
  }

  return (
    <section class="card upload">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the button does the same */}
      <div
        class="drop"
        data-over={isOver}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          void send(event.dataTransfer?.files[0]);
        }}
      >
        <p>{words.drop}</p>
        <input
          ref={input}
          id={id}
          type="file"
          class="unseen"
          accept=".xlsx,.csv,.tsv,.txt"
          aria-describedby={`${id}formats`}
          disabled={running !== null}
          onChange={({ currentTarget }) => void send(currentTarget.files?.[0])}
        />
        <label for={id} class="primary">
          {words.choose}
        </label>
        <p class="hint" id={`${id}formats`}>
          {words.formats(MEGABYTES)}
        </p>
      </div>
      {running && (
        <p>
          <progress aria-label={words.uploading} />{' '}
          <button type="button" class="secondary" onClick={() => running.abort()}>
            {texts.search.stop}
          </button>
        </p>
      )}
      <p role="status">{told}</p>
      <Refusal why={refusal} />
      <p class="under">{words.kept(IMPORT_DAYS)}</p>
    </section>
  );
}

function isUnconfirmed(sent: Awaited<ReturnType<typeof upload>>): boolean {
  return 'refusal' in sent && sent.refusal !== 'unreachable' && sent.refusal.code === 'confirmation_required';
}
