import { useLocation } from 'preact-iso';
import { hasScope } from '../../domain/scopes.ts';
import { DELIVERY_STATES } from '../../domain/webhook/delivery.ts';
import { useLanguage } from '../interface/language.tsx';
import { useTitle } from '../interface/use-title.ts';
import { listAddress, pageArguments } from '../tables/list-address.ts';
import { pageSizeOf, sizeInAddress } from '../tables/page-sizes.ts';
import { useLive, useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { DeliveryRows } from './delivery-rows.tsx';
import { DELIVERIES } from './documents.ts';
import { ReplayForm } from './replay-form.tsx';
import { useOutcomes } from './use-outcomes.ts';

/** `…/deliveries`: the deliveries to the endpoints, newest event first. The address contains the page. */
export function DeliveriesPage() {
  const { texts } = useLanguage();
  const { address, tenant, environment } = useWorkspace();
  const { query } = useLocation();
  const state = DELIVERY_STATES.find((each) => each === query.state) ?? null;
  const rows = pageSizeOf(query);
  const { data, problem, reload } = useRead(DELIVERIES, {
    ...(state && { state }),
    ...pageArguments(query, rows),
  });
  const { title, none, allStates } = texts.deliveries;
  const found = data?.webhookDeliveries;
  useTitle(title);
  useLive(() => !query.after && !query.before, reload);
  useOutcomes(found?.nodes ?? [], reload);
  const to = (set: Readonly<Record<string, string | null>>) => listAddress(`${address}/deliveries`, set);
  const size = { size: sizeInAddress(rows) };
  return (
    <section aria-busy={!found && !problem}>
      <h1 class="title">{title}</h1>
      <div class="filters">
        <nav aria-label={texts.invoices.filters}>
          {[null, ...DELIVERY_STATES].map((each) => (
            <a key={each} href={to({ ...size, state: each })} aria-current={each === state ? 'true' : undefined}>
              {each === null ? allStates : texts.invoices.deliveryStates[each]}
            </a>
          ))}
        </nav>
      </div>
      {hasScope(tenant.role, 'operate', environment) && <ReplayForm onReplayed={reload} />}
      <DeliveryRows
        list={{ page: found ?? null, problem, reload, size: rows, to: (place) => to({ state, ...place }) }}
        empty={none}
      />
    </section>
  );
}
