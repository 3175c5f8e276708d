import { reasonOf } from '../graphql/client.ts';
import { useLanguage } from '../interface/language.tsx';
import { PdfPreview } from '../interface/pdf-preview.tsx';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { PREVIEW, type ProfileChange } from './documents.ts';

/** Shows the PDF of a sample invoice with the profile as typed. */
export function ProfilePreview({ change }: { change: ProfileChange }) {
  const { texts } = useLanguage();
  const { client } = useWorkspace();
  const { preview, previewLead } = texts.settings;
  async function draw() {
    const { data, error } = await client.query(PREVIEW, { input: change }).toPromise();
    return { dataUrl: data?.sellerProfilePreview ?? null, refusal: error ? reasonOf(error) : null };
  }
  return (
    <PdfPreview title={preview} of={JSON.stringify(change)} draw={draw}>
      {previewLead}
    </PdfPreview>
  );
}
