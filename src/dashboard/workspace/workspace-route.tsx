import { useEffect, useMemo, useState } from 'preact/hooks';
import { Route, Router, useRoute } from 'preact-iso';
import { useLanguage } from '../interface/language.tsx';
import { lazyPart } from '../interface/lazy-part.tsx';
import { NotFound } from '../interface/not-found.tsx';
import { Notice } from '../interface/notice.tsx';
import { PageFrame } from '../interface/page-frame.tsx';
import { Skeleton } from '../interface/skeleton.tsx';
import { Confirmation } from './confirmation.tsx';
import { type Connection, openWorkspace } from './live-events.ts';
import { Missing } from './missing.tsx';
import { useSession, workspaceAddress } from './session.ts';
import { type Workspace, WorkspaceContext } from './workspace-context.ts';
import { WorkspaceFrame } from './workspace-frame.tsx';

const AccountPart = lazyPart(async () => (await import('../account/framed-account.tsx')).FramedAccount);
const AuditPage = lazyPart(async () => (await import('../audit/audit-page.tsx')).AuditPage);
const ConsolePage = lazyPart(async () => (await import('../console/console-page.tsx')).ConsolePage);
const CreditPage = lazyPart(async () => (await import('../crediting/credit-page.tsx')).CreditPage);
const DeliveryPage = lazyPart(async () => (await import('../endpoints/delivery-page.tsx')).DeliveryPage);
const DeliveriesPage = lazyPart(async () => (await import('../endpoints/deliveries-page.tsx')).DeliveriesPage);
const DraftPage = lazyPart(async () => (await import('../drafts/draft-page.tsx')).DraftPage);
const DraftsPage = lazyPart(async () => (await import('../drafts/drafts-page.tsx')).DraftsPage);
const EndpointsPage = lazyPart(async () => (await import('../endpoints/endpoints-page.tsx')).EndpointsPage);
const HomePage = lazyPart(async () => (await import('../home/home-page.tsx')).HomePage);
const ImportPage = lazyPart(async () => (await import('../imports/import-page.tsx')).ImportPage);
const ImportsPage = lazyPart(async () => (await import('../imports/imports-page.tsx')).ImportsPage);
const InvoicesPage = lazyPart(async () => (await import('../invoices/invoices-page.tsx')).InvoicesPage);
const KeysPage = lazyPart(async () => (await import('../keys/keys-page.tsx')).KeysPage);
const MemberInvoicePage = lazyPart(async () => (await import('../invoices/member-invoice-page.tsx')).MemberInvoicePage);
const ReplacePage = lazyPart(async () => (await import('../replacing/replace-page.tsx')).ReplacePage);
const NewInvoicePage = lazyPart(async () => (await import('../creation/new-invoice-page.tsx')).NewInvoicePage);
const PeriodPage = lazyPart(async () => (await import('../periods/period-page.tsx')).PeriodPage);
const PeoplePage = lazyPart(async () => (await import('../people/people-page.tsx')).PeoplePage);
const RequestPage = lazyPart(async () => (await import('../requests/request-page.tsx')).RequestPage);
const RequestsPage = lazyPart(async () => (await import('../requests/requests-page.tsx')).RequestsPage);
const RulesPage = lazyPart(async () => (await import('../rules/rules-page.tsx')).RulesPage);
const SettingsPage = lazyPart(async () => (await import('../settings/settings-page.tsx')).SettingsPage);

/** `/tenants/<tenant>/<test or live>/…`: routes to the pages of a signed-in person. */
export function WorkspaceRoute() {
  const { tenant: tenantId = '', environment } = useRoute().params;
  const { texts } = useLanguage();
  const found = useSession();
  if (found === null) {
    return (
      <PageFrame title={texts.account.title}>
        <Skeleton />
      </PageFrame>
    );
  }
  if (found.refusal !== null || !found.session)
    return <Notice title={texts.account.title} text={texts.account.refusals.unreachable} />;
  const tenant = found.session.memberships.find((each) => each.tenantId === tenantId);
  if (!tenant || (environment !== 'test' && environment !== 'live')) return <NotFound />;
  const { id, email } = found.session.person;
  return (
    <Confirmation email={email}>
      <OpenWorkspace key={`${id} ${tenantId} ${environment}`} personId={id} tenant={tenant} environment={environment} />
    </Confirmation>
  );
}

function OpenWorkspace(props: Pick<Workspace, 'personId' | 'tenant' | 'environment'>) {
  const { personId, tenant, environment } = props;
  const { tenantId } = tenant;
  const [connection, setConnection] = useState<Connection>('connecting');
  const opened = useMemo(() => openWorkspace(tenantId, environment, setConnection), [tenantId, environment]);
  useEffect(() => opened.close, [opened]);
  const workspace: Workspace = useMemo(
    () => ({
      personId,
      tenant,
      environment,
      address: workspaceAddress(tenantId, environment),
      client: opened.client,
      events: opened.events,
    }),
    [personId, tenant, tenantId, environment, opened],
  );
  return (
    <WorkspaceContext.Provider value={workspace}>
      <WorkspaceFrame connection={connection}>
        <Router>
          <Route path="/account" component={AccountPart} />
          <Route path="/audit" component={AuditPage} />
          <Route path="/console" component={ConsolePage} />
          <Route path="/deliveries" component={DeliveriesPage} />
          <Route path="/deliveries/:id" component={DeliveryPage} />
          <Route path="/drafts" component={DraftsPage} />
          <Route path="/drafts/:id" component={DraftPage} />
          <Route path="/endpoints" component={EndpointsPage} />
          <Route path="/home" component={HomePage} />
          <Route path="/imports" component={ImportsPage} />
          <Route path="/imports/:id" component={ImportPage} />
          <Route path="/invoices" component={InvoicesPage} />
          <Route path="/invoices/new" component={NewInvoicePage} />
          <Route path="/invoices/:id" component={MemberInvoicePage} />
          <Route path="/invoices/:id/credit" component={CreditPage} />
          <Route path="/invoices/:id/replace" component={ReplacePage} />
          <Route path="/keys" component={KeysPage} />
          <Route path="/requests" component={RequestsPage} />
          <Route path="/requests/:id" component={RequestPage} />
          <Route path="/rules" component={RulesPage} />
          <Route path="/settings" component={SettingsPage} />
          <Route path="/periods" component={PeriodPage} />
          <Route path="/periods/:name" component={PeriodPage} />
          <Route path="/people" component={PeoplePage} />
          <Route default component={Missing} />
        </Router>
      </WorkspaceFrame>
    </WorkspaceContext.Provider>
  );
}
