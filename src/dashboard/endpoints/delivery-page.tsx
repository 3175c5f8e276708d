import { useRoute } from 'preact-iso';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { useTitle } from '../interface/use-title.ts';
import { useLive, useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { DeliveryDetails } from './delivery-details.tsx';
import { DELIVERY } from './documents.ts';
import { useOutcomes } from './use-outcomes.ts';

/** `…/deliveries/:id`: one delivery with each request and answer. Reports can link to it. */
export function DeliveryPage() {
  const { id = '' } = useRoute().params;
  const { texts } = useLanguage();
  const { address } = useWorkspace();
  const { data, problem, reload } = useRead(DELIVERY, { id });
  const { one, title } = texts.deliveries;
  const found = data?.webhookDelivery;
  useTitle(one);
  useLive((invoiceId) => invoiceId === found?.invoiceId, reload);
  useOutcomes(found ? [found] : [], reload);
  return (
    <section aria-busy={!found && !problem}>
      <p>
        <a href={`${address}/deliveries`}>{title}</a>
      </p>
      <h1 class="title">{one}</h1>
      <p class="under">
        <code dir="ltr">{id}</code>
      </p>
      <Refusal why={problem === 'failed' ? 'unreachable' : null} onRetry={reload} />
      {problem === 'refused' && <p class="empty">{texts.notFoundUnder}</p>}
      {found && <DeliveryDetails delivery={found} onResent={reload} />}
    </section>
  );
}
