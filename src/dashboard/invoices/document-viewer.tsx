import { useState } from 'preact/hooks';
import { useLanguage } from '../interface/language.tsx';

/** Shows the PDF in the page when opened. A PDF that was never requested before is drawn at that time. */
export function DocumentViewer({ url }: { url: string }) {
  const { texts } = useLanguage();
  const [isOpen, setOpen] = useState(false);
  // The service also answers at the address of this page, which may differ from the public address.
  const { pathname } = new URL(url);
  return (
    <details class="card part viewer" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{texts.invoices.viewPdf}</summary>
      {isOpen && <iframe src={pathname} title={texts.pdf} />}
    </details>
  );
}
