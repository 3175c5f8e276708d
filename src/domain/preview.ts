import { serviceError } from './errors.ts';
import { type createFairQueue, QueueFull } from './kit/fair-queue.ts';

/**
 * Limits of the queue of previews: drawn at once, waiting for one tenant, waiting in all, and milliseconds that one may
 * wait.
 */
export const PREVIEWS = { places: 1, perKey: 2, total: 20, patienceMs: 20_000 } as const;

/**
 * Maximum size of a preview as a data URL, in bytes, so that an answer holds it: a page with its fonts and the largest
 * logo.
 */
export const PREVIEW_BYTES = 1_800_000;

/**
 * Maximum number of lines of a preview. With more lines, the PDF usually exceeds {@link PREVIEW_BYTES}, and takes long
 * to draw.
 */
export const PREVIEW_LINES = 500;

/** The queue of previews, by tenant, with the limits {@link PREVIEWS}. */
export type Previews = ReturnType<typeof createFairQueue>;

/**
 * Draws a PDF in the tenant's turn.
 * @returns a data URL
 * @throws {ServiceError} rate_limit_exceeded while too many previews of the tenant wait; invalid_request for a PDF of
 *   more than {@link PREVIEW_BYTES}; the errors of `draw`
 */
export async function previewUrl(
  previews: Previews,
  tenantId: string,
  draw: () => Promise<Uint8Array>,
): Promise<string> {
  try {
    const pdf = await previews.run(tenantId, draw);
    const url = `data:application/pdf;base64,${Buffer.from(pdf).toString('base64')}`;
    if (url.length <= PREVIEW_BYTES) return url;
    throw serviceError('invalid_request', 'The preview is too large for an answer: its lines have too much text.');
  } catch (error) {
    if (error instanceof QueueFull)
      throw serviceError('rate_limit_exceeded', 'Too many previews are drawn at the moment. Try again in 5 s.');
    throw error;
  }
}
