import { render } from 'preact';
import { LocationProvider, Route, Router } from 'preact-iso';
import { LanguageProvider } from './interface/language.tsx';
import { lazyPage } from './interface/lazy-part.tsx';
import { NotFound } from './interface/not-found.tsx';
import { takeOffsets } from './text/moroccan-time.ts';
import './style.css';

/**
 * The addresses that this program serves. The browser loads links to others (`/docs`, `/verify/…`, `/files/…`) from the
 * server.
 */
const OWN_ADDRESSES =
  /^\/(i\/.*|embed\/.*|account|forgotten-password|join|new-address|new-password|sign-in|tenants\/.*|ops(\/(account|tenants|entries).*)?)?$/;

const AccountPage = lazyPage(async () => (await import('./account/account-page.tsx')).AccountPage);
const EmbeddedInvoice = lazyPage(async () => (await import('./embedding/embedded-invoice.tsx')).EmbeddedInvoice);
const EmbeddedLog = lazyPage(async () => (await import('./embedding/embedded-log.tsx')).EmbeddedLog);
const ForgottenPasswordPage = lazyPage(
  async () => (await import('./account/forgotten-password-page.tsx')).ForgottenPasswordPage,
);
const InvoiceRoute = lazyPage(async () => (await import('./invoice/invoice-route.tsx')).InvoiceRoute);
const JoinPage = lazyPage(async () => (await import('./account/join-page.tsx')).JoinPage);
const NewAddressPage = lazyPage(async () => (await import('./account/new-address-page.tsx')).NewAddressPage);
const NewPasswordPage = lazyPage(async () => (await import('./account/new-password-page.tsx')).NewPasswordPage);
const OperatorsRoute = lazyPage(async () => (await import('./operators/operators-route.tsx')).OperatorsRoute);
const SignInPage = lazyPage(async () => (await import('./account/sign-in-page.tsx')).SignInPage);
const WorkspaceRoute = lazyPage(async () => (await import('./workspace/workspace-route.tsx')).WorkspaceRoute);
const Welcome = lazyPage(async () => (await import('./welcome/welcome.tsx')).Welcome);

takeOffsets(document.querySelector<HTMLMetaElement>('meta[name="moroccan-time"]')?.content ?? '');

const root = document.getElementById('app');
if (root) {
  render(
    <LanguageProvider>
      <LocationProvider scope={OWN_ADDRESSES}>
        <Router>
          <Route path="/" component={Welcome} />
          <Route path="/i/:id" component={InvoiceRoute} />
          <Route path="/account" component={AccountPage} />
          <Route path="/embed/invoices/:id/:frame" component={EmbeddedInvoice} />
          <Route path="/embed/deliveries/:frame" component={EmbeddedLog} />
          <Route path="/forgotten-password" component={ForgottenPasswordPage} />
          <Route path="/join" component={JoinPage} />
          <Route path="/new-address" component={NewAddressPage} />
          <Route path="/new-password" component={NewPasswordPage} />
          <Route path="/ops/:section?/:id?" component={OperatorsRoute} />
          <Route path="/sign-in" component={SignInPage} />
          <Route path="/tenants/:tenant/:environment/*" component={WorkspaceRoute} />
          <Route default component={NotFound} />
        </Router>
      </LocationProvider>
    </LanguageProvider>,
    root,
  );
}
