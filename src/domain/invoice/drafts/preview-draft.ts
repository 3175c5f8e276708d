import { serviceError } from '../../errors.ts';
import { PREVIEW_LINES, type Previews, previewUrl } from '../../preview.ts';
import type { LogoStore } from '../../tenant/ports.ts';
import type { Call, UseCase } from '../../use-case.ts';
import { partsReader } from '../field-makers.ts';
import { INVOICE } from '../fields.ts';
import type { PdfRenderer } from '../ports.ts';
import { previewStatedDeposits } from '../preview-stated-deposits.ts';
import type { DepositInvoices } from '../take-deposits.ts';
import { draftPage } from './draft-page.ts';
import { type DraftNeeds, ownDraft } from './find-draft.ts';

const partsOf = partsReader(INVOICE);

interface PreviewNeeds extends DraftNeeds {
  readonly logos: LogoStore;
  readonly previews: Previews;
  /** Draws a page without signing it. @throws when it cannot be drawn */
  readonly invoices: DraftNeeds['invoices'] & Pick<DepositInvoices, 'find' | 'correctionStatesOf'>;
  readonly drawDraft: PdfRenderer['draw'];
}

/**
 * Returns the PDF of a draft, marked as one, as a data URL. It shows what is valid, with the seller's present profile.
 */
export const draftPreview = {
  scope: 'read',
  /**
   * @throws {ServiceError} resource_not_found; draft_issued; invalid_request when the totals are beyond the limit, or
   *   for more than {@link PREVIEW_LINES} lines; rate_limit_exceeded while too many previews of the tenant wait;
   *   internal_error (503) if no PDF can be drawn
   */
  async run(needs: PreviewNeeds, { by }: Call, id: string): Promise<string> {
    const { logos, previews, drawDraft, invoices } = needs;
    const draft = await ownDraft(needs, by, id);
    const { logo: reference = null } = by.tenant.profile;
    const now = new Date();
    const written = JSON.parse(draft.content);
    if (Array.isArray(written.lines) && written.lines.length > PREVIEW_LINES)
      throw serviceError('invalid_request', `A preview shows at most ${PREVIEW_LINES} lines.`, 'lines');
    const preview = await previewStatedDeposits(invoices, by, partsOf(written), now);
    const deposits = preview?.problems.length ? [] : preview?.deposits;
    const page = draftPage(draft, by.tenant, reference && (await logos.find(reference)), now, deposits);
    return previewUrl(previews, by.tenant.id, () => drawDraft(page));
  },
} as const satisfies UseCase;
