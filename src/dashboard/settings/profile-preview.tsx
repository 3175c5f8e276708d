import { useEffect, useRef, useState } from 'preact/hooks';
import { reasonOf } from '../graphql/client.ts';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import type { Reason } from '../text/errors.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { PREVIEW, type ProfileChange } from './documents.ts';

/** Pause after the last change before the preview is drawn again, milliseconds. */
const PAUSE_MS = 900;

interface Shown {
  /** The object URL of the PDF; null before the first one. */
  readonly url: string | null;
  readonly refusal: Reason | null;
  readonly isDrawing: boolean;
}

/**
 * Shows the PDF of a sample invoice with the profile as typed. While open, it is drawn again after each pause in
 * typing.
 */
export function ProfilePreview({ change }: { change: ProfileChange }) {
  const { texts } = useLanguage();
  const { client } = useWorkspace();
  const [isOpen, setOpen] = useState(false);
  const [shown, setShown] = useState<Shown>({ url: null, refusal: null, isDrawing: false });
  const url = useRef<string | null>(null);
  const key = JSON.stringify(change);
  const { preview, previewLead, openPreview, drawing } = texts.settings;

  useEffect(() => {
    if (!isOpen) return;
    let isOver = false;
    const timer = setTimeout(
      async () => {
        setShown((before) => ({ ...before, isDrawing: true }));
        const { data, error } = await client.query(PREVIEW, { input: JSON.parse(key) as ProfileChange }).toPromise();
        if (isOver) return;
        if (data) {
          if (url.current) URL.revokeObjectURL(url.current);
          url.current = URL.createObjectURL(pdfOf(data.sellerProfilePreview));
        }
        const refusal = error ? reasonOf(error) : null;
        setShown({ url: url.current, refusal, isDrawing: false });
      },
      url.current === null ? 0 : PAUSE_MS,
    );
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [isOpen, key, client]);
  useEffect(
    () => () => {
      if (url.current) URL.revokeObjectURL(url.current);
    },
    [],
  );

  return (
    <details class="card part viewer" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{preview}</summary>
      <p class="under">{previewLead}</p>
      <Refusal why={shown.refusal} />
      <p class="under" role="status">
        {shown.isDrawing && drawing}
      </p>
      {isOpen && shown.url !== null && (
        <>
          <iframe src={shown.url} title={preview} />
          <p>
            <a href={shown.url} target="_blank" rel="noopener">
              {openPreview}
            </a>
          </p>
        </>
      )}
    </details>
  );
}

/** Decodes a PDF. @param dataUrl a data URL in base64 */
function pdfOf(dataUrl: string): Blob {
  const octets = Uint8Array.from(atob(dataUrl.slice(dataUrl.indexOf(',') + 1)), (each) => each.charCodeAt(0));
  return new Blob([octets], { type: 'application/pdf' });
}
