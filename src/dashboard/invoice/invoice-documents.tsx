import type { Invoice } from './documents.ts';
import { useDocumentTexts } from './use-document-texts.ts';

/** Shows the documents of an accepted invoice and its public verification, otherwise when they will be available. */
export function InvoiceDocuments({ invoice: { id, status, documents } }: { invoice: Invoice }) {
  const { language, texts } = useDocumentTexts(id);
  if (!documents) return <p class="to-come">{status === 'rejected' ? texts.noDocuments : texts.documentsToCome}</p>;
  const links = [
    { href: documents.pdf.url, name: texts.pdf, under: texts.pdfUnder, download: false },
    { href: documents.xml.url, name: texts.xml, under: texts.xmlUnder, download: true },
    { href: `/verify/${id}?lang=${language}`, name: texts.verify, under: texts.verifyUnder, download: false },
  ];
  return (
    <nav class="documents" aria-label={texts.documents}>
      {links.map(({ href, name, under, download }) => (
        <a key={href} href={href} rel="noreferrer" download={download} target={download ? undefined : '_blank'}>
          <strong>{name}</strong>
          <span>{under}</span>
        </a>
      ))}
    </nav>
  );
}
