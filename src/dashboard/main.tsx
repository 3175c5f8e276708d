import { render } from 'preact';
import { LocationProvider, lazy, Route, Router } from 'preact-iso';
import { LanguageProvider } from './interface/language.tsx';
import { NotFound } from './interface/not-found.tsx';
import './style.css';

/** The addresses that this program serves. Links to others (`/docs`, `/verify/…`, `/files/…`) load from the server. */
const OWN_ADDRESSES = /^\/(i\/.*)?$/;

const InvoiceRoute = lazy(async () => (await import('./invoice/invoice-route.tsx')).InvoiceRoute);
const Welcome = lazy(async () => (await import('./welcome/welcome.tsx')).Welcome);

const root = document.getElementById('app');
if (root) {
  render(
    <LanguageProvider>
      <LocationProvider scope={OWN_ADDRESSES}>
        <Router>
          <Route path="/" component={Welcome} />
          <Route path="/i/:id" component={InvoiceRoute} />
          <Route default component={NotFound} />
        </Router>
      </LocationProvider>
    </LanguageProvider>,
    root,
  );
}
