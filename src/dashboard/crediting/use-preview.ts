import { useState } from 'preact/hooks';
import { useAfterTyping } from '../interface/use-after-typing.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { CREDIT_PREVIEW, type CreditPreview, type Fault } from './documents.ts';
import type { DrawnUpCredit } from './typed-credit.ts';

/** The service's answer to the form. */
export interface Previewed {
  readonly preview: CreditPreview;
  /** The faults that the service found, by the field's id. Faults without a field are in `preview` only. */
  readonly faults: ReadonlyMap<string, Fault>;
}

/** Pause in typing after which the preview is requested, milliseconds. */
const PAUSE_MS = 300;

/**
 * Requests the preview of a credit note after a pause in typing. The pages do not compute VAT.
 * @param heard called with each answer
 * @returns the latest answer, whether it belongs to the present state of the form, and a function that requests it
 *   again
 */
export function usePreview(id: string, { input, fields }: DrawnUpCredit, heard: (previewed: Previewed) => void) {
  const { client } = useWorkspace();
  const [turn, setTurn] = useState(0);
  const [answer, setAnswer] = useState<(Previewed & { readonly key: string }) | null>(null);
  // The reason determines no amount.
  const asked = { ...input, reason: 'other' as const };
  const key = JSON.stringify([id, asked, turn]);
  useAfterTyping(key, PAUSE_MS, async (isCurrent) => {
    const { data } = await client.query(CREDIT_PREVIEW, { id, input: asked }).toPromise();
    if (!isCurrent() || !data) return;
    const preview = data.creditPreview;
    const faults = new Map<string, Fault>();
    for (const fault of preview.problems) {
      const field = fields.get(fault.param ?? '');
      if (field !== undefined) faults.set(field, fault);
    }
    setAnswer({ key, preview, faults });
    heard({ preview, faults });
  });
  return { previewed: answer, isCurrent: answer?.key === key, askAgain: () => setTurn((earlier) => earlier + 1) };
}
