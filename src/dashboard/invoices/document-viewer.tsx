import { useState } from 'preact/hooks';
import { useLanguage } from '../interface/language.tsx';

/** Shows the PDF in the page when it is opened; a PDF that nobody has asked for before is drawn then. */
export function DocumentViewer({ url }: { url: string }) {
  const { texts } = useLanguage();
  const [isOpen, setOpen] = useState(false);
  // The same service answers under the address of this page, which may be another one than the public address.
  const { pathname } = new URL(url);
  return (
    <details class="card part viewer" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{texts.invoices.viewPdf}</summary>
      {isOpen && <iframe src={pathname} title={texts.pdf} />}
    </details>
  );
}
