import { useRoute } from 'preact-iso';
import { FramedAccount } from '../account/framed-account.tsx';
import { BrandMark } from '../interface/brand-mark.tsx';
import { useContentFocus } from '../interface/content-focus.ts';
import { LanguageSwitch, useLanguage } from '../interface/language.tsx';
import { useLastPlace } from '../interface/last-place.ts';
import { NotFound } from '../interface/not-found.tsx';
import { type Section, Sections } from '../interface/sections.tsx';
import { EntriesPage } from './entries-page.tsx';
import { SurveyPage } from './survey-page.tsx';
import { TenantPage } from './tenant-page.tsx';
import { TenantsPage } from './tenants-page.tsx';

const ACCOUNT = '/ops/account';

/** `/ops…`: routes to the pages of operators. */
export function OperatorsRoute() {
  const { texts } = useLanguage();
  useContentFocus();
  useLastPlace(ACCOUNT);
  const { section, id } = useRoute().params;
  const { operators } = texts;
  const Page = pageOf(section, id);
  if (Page === null) return <NotFound />;
  const groups: readonly (readonly Section[])[] = [
    [
      { icon: 'home', name: operators.title, href: '/ops', exact: true },
      { icon: 'tenants', name: operators.tenants, href: '/ops/tenants' },
      { icon: 'audit', name: operators.entries, href: '/ops/entries' },
    ],
    [
      { icon: 'jobs', name: texts.account.jobs, href: '/ops/jobs/', apart: true },
      { icon: 'metrics', name: texts.account.metrics, href: '/metrics', apart: true },
    ],
    [{ icon: 'account', name: texts.account.title, href: ACCOUNT }],
  ];
  return (
    <div class="workspace">
      <a class="skip" href="#content">
        {texts.workspace.skip}
      </a>
      <header>
        <p class="place">
          <a class="brand" href="/ops">
            <BrandMark />
            Fatoura
          </a>
        </p>
        <p class="place">{texts.account.operator}</p>
        <LanguageSwitch />
      </header>
      <Sections label={texts.workspace.sections} groups={groups} />
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
  if (section === 'account') return FramedAccount;
  return section === 'entries' ? EntriesPage : null;
}
