import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Reason } from '../text/errors.ts';
import { useLanguage } from './language.tsx';
import { Refusal } from './refusal.tsx';

/** Pause after the last change before the preview is drawn again, milliseconds. */
const PAUSE_MS = 900;

interface Shown {
  /** The object URL of the PDF; null before the first one. */
  readonly url: string | null;
  readonly refusal: Reason | null;
  readonly isDrawing: boolean;
}

interface PdfPreviewProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Changes when the PDF does. */
  readonly of: string;
  /** Asks the service for the PDF as a data URL. */
  readonly draw: () => Promise<{ readonly dataUrl: string | null; readonly refusal: Reason | null }>;
}

/** Shows a PDF that is not stored. While open, it is drawn again after each pause in changes. */
export function PdfPreview({ title, children, of, draw }: PdfPreviewProps) {
  const { texts } = useLanguage();
  const [isOpen, setOpen] = useState(false);
  const [shown, setShown] = useState<Shown>({ url: null, refusal: null, isDrawing: false });
  const url = useRef<string | null>(null);
  const { openPreview, drawing } = texts.settings;

  useEffect(() => {
    if (!isOpen) return;
    let isOver = false;
    const timer = setTimeout(
      async () => {
        setShown((before) => ({ ...before, isDrawing: true }));
        const { dataUrl, refusal } = await draw();
        if (isOver) return;
        if (dataUrl !== null) {
          if (url.current) URL.revokeObjectURL(url.current);
          url.current = URL.createObjectURL(pdfOf(dataUrl));
        }
        setShown({ url: url.current, refusal, isDrawing: false });
      },
      url.current === null ? 0 : PAUSE_MS,
    );
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [isOpen, of]);
  useEffect(
    () => () => {
      if (url.current) URL.revokeObjectURL(url.current);
    },
    [],
  );

  return (
    <details class="card part viewer" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{title}</summary>
      <p class="under">{children}</p>
      <Refusal why={shown.refusal} />
      <p class="under" role="status">
        {shown.isDrawing && drawing}
      </p>
      {isOpen && shown.url !== null && (
        <>
          <iframe src={shown.url} title={title} />
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
