import { useLocation, useRoute } from 'preact-iso';
import { BrandMark } from '../interface/brand-mark.tsx';
import { LanguageSwitch, useLanguage } from '../interface/language.tsx';
import { NotFound } from '../interface/not-found.tsx';
import { EntriesPage } from './entries-page.tsx';
import { SurveyPage } from './survey-page.tsx';
import { TenantPage } from './tenant-page.tsx';
import { TenantsPage } from './tenants-page.tsx';

/** `/ops…`: the pages of operators. */
export function OperatorsRoute() {
  const { texts } = useLanguage();
  const { path } = useLocation();
  const { section, id } = useRoute().params;
  const { operators } = texts;
  const Page = pageOf(section, id);
  if (Page === null) return <NotFound />;
  const sections = [
    ['/ops', operators.title],
    ['/ops/tenants', operators.tenants],
    ['/ops/entries', operators.entries],
  ] as const;
  return (
    <div class="workspace">
      <a class="skip" href="#content">
        {texts.workspace.skip}
      </a>
      <header>
        <p class="place">
          <a class="brand" href="/account">
            <BrandMark />
            Fatoura
          </a>
        </p>
        <p class="place">{texts.account.operator}</p>
        <LanguageSwitch />
      </header>
      <nav class="sections" aria-label={texts.workspace.sections}>
        {sections.map(([address, name]) => (
          <a
            key={address}
            href={address}
            aria-current={(address === '/ops' ? path === address : path.startsWith(address)) ? 'page' : undefined}
          >
            {name}
          </a>
        ))}
        {/* Pages of their own, which the router of these pages must leave to the browser. */}
        <a href="/ops/jobs/" target="_blank" rel="noopener">
          {texts.account.jobs}
        </a>
        <a href="/metrics" target="_blank" rel="noopener">
          {texts.account.metrics}
        </a>
        <a href="/account">{texts.account.title}</a>
      </nav>
      <main id="content" tabIndex={-1}>
        <Page />
      </main>
    </div>
  );
}

function pageOf(section: string | undefined, id: string | undefined) {
  if (section === 'tenants') return id ? TenantPage : TenantsPage;
  if (id) return null;
  if (!section) return SurveyPage;
  return section === 'entries' ? EntriesPage : null;
}
