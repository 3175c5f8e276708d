import { useLocation } from 'preact-iso';
import { hasScope } from '../../domain/scopes.ts';
import { DELIVERY_STATES } from '../../domain/webhook/delivery.ts';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { useTitle } from '../interface/use-title.ts';
import { PageLinks } from '../workspace/page-links.tsx';
import { useLive, useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { DeliveryRow, useOutcomes } from './delivery-row.tsx';
import { DELIVERIES, DELIVERIES_PAGE } from './documents.ts';
import { ReplayForm } from './replay-form.tsx';

/** `…/deliveries`: the deliveries to the endpoints, newest event first, with each request and answer. */
export function DeliveriesPage() {
  const { texts } = useLanguage();
  const { address, tenant, environment } = useWorkspace();
  const { query } = useLocation();
  const state = DELIVERY_STATES.find((each) => each === query.state) ?? null;
  const { after, before } = query;
  const { data, problem, reload } = useRead(DELIVERIES, {
    ...(state && { state }),
    ...(before && !after ? { last: DELIVERIES_PAGE, before } : { first: DELIVERIES_PAGE, ...(after && { after }) }),
  });
  const { title, none, allStates } = texts.deliveries;
  const found = data?.webhookDeliveries;
  useTitle(title);
  useLive(() => !after && !before, reload);
  useOutcomes(found?.nodes ?? [], reload);
  const to = (query: Readonly<Record<string, string | null>>) => {
    const set = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== null);
    return `${address}/deliveries${set.length === 0 ? '' : `?${new URLSearchParams(set)}`}`;
  };
  return (
    <section aria-busy={!found && !problem}>
      <h1 class="title">{title}</h1>
      <div class="filters">
        <nav aria-label={texts.invoices.filters}>
          {[null, ...DELIVERY_STATES].map((each) => (
            <a key={each} href={to({ state: each })} aria-current={each === state ? 'true' : undefined}>
              {each === null ? allStates : texts.invoices.deliveryStates[each]}
            </a>
          ))}
        </nav>
      </div>
      {hasScope(tenant.role, 'operate', environment) && <ReplayForm onReplayed={reload} />}
      <Refusal why={problem && 'unreachable'} />
      {found?.nodes.length === 0 && <p class="empty">{none}</p>}
      {found?.nodes.map((delivery) => (
        <DeliveryRow delivery={delivery} key={delivery.id} onResent={reload} />
      ))}
      {found && <PageLinks pageInfo={found.pageInfo} to={(cursor) => to({ state, ...cursor })} />}
    </section>
  );
}
