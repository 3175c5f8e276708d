import type { AuthorityDiagnosis, LiveNeed } from '../app/diagnosis.ts';
import { DAY_MS } from '../domain/durations.ts';
import { moroccanDate } from '../domain/morocco/time.ts';
import { CLOCK_WARNING_MS, EXPIRY_WARNING_DAYS, type Finding, needText, oneLine } from './doctor-checks.ts';

/**
 * Checks the live authority: files, certificate, token, capabilities, clock. Files that cannot be used prevent the
 * start of the service. A missing authority is a failure if the data needs one. Everything else only delays live
 * invoices, so it is a warning.
 * @param need which live invoices and keys need an authority although none is configured; null: none
 */
export async function checkAuthority(
  diagnose: () => Promise<AuthorityDiagnosis | null>,
  need: LiveNeed | null,
  now: Date,
): Promise<Finding[]> {
  const subject = 'authority';
  let found: AuthorityDiagnosis | null;
  try {
    found = await diagnose();
  } catch (error) {
    const advice = 'Correct these DGI_* settings or the files that they name; the service does not start until then.';
    return [{ subject, state: 'fails', found: oneLine(error), advice }];
  }
  if (found === null) return [withoutAuthority(need)];
  return [...certificateFindings(found, now), ...tokenFinding(found), answerFinding(found), ...clockFinding(found)];
}

function withoutAuthority(need: LiveNeed | null): Finding {
  const subject = 'authority';
  if (need === null)
    return { subject, state: 'works', found: 'DGI_URL is not set: there is the test environment only' };
  return {
    subject,
    state: 'fails',
    found: `DGI_URL is not set, and the data has ${needText(need)}`,
    advice:
      'Set DGI_URL and the other DGI_* settings as they were, and put back the files that they name: nothing else sends these invoices, and new ones are refused.',
  };
}

const SUBJECTS = { client: 'DGI client', ca: 'DGI_CA', server: 'DGI server' } as const;

function certificateFindings({ certificates }: AuthorityDiagnosis, now: Date): Finding[] {
  return certificates.map(({ use, certificate }) => {
    const subject = SUBJECTS[use];
    const days = Math.floor((certificate.validToDate.getTime() - now.getTime()) / DAY_MS);
    const until = moroccanDate(certificate.validToDate);
    const text = `${certificate.subject.replaceAll('\n', ', ')}, until ${until} (${days} days left)`;
    if (days >= EXPIRY_WARNING_DAYS) return { subject, state: 'works', found: text };
    const advice =
      use === 'server'
        ? 'The authority must renew it: ask it. Live invoices wait when it has expired.'
        : 'Get the next certificate and put it in the place of the file; no restart is needed.';
    return { subject, state: 'warns', found: text, advice };
  });
}

function tokenFinding({ token, trouble }: AuthorityDiagnosis): Finding[] {
  const subject = 'DGI token';
  if (token === null) return [];
  if (token.endsInMs !== null) {
    return [{ subject, state: 'works', found: `valid for ${Math.round(token.endsInMs / 1000)} s` }];
  }
  return [{ subject, state: 'warns', found: trouble ?? 'none', advice: tokenAdvice(trouble ?? '') }];
}

function tokenAdvice(trouble: string): string {
  if (trouble.includes('The connection failed') || trouble.includes('No connection'))
    return 'Check DGI_TOKEN_URL, DGI_CA and DGI_CLIENT_P12, which the server may not accept, and the network. Live invoices wait until then.';
  if (/status (5\d\d|429)/.test(trouble))
    return 'The token endpoint is not available: ask the authority if it lasts. Live invoices wait until then.';
  return 'Check DGI_TOKEN_URL and DGI_CLIENT_ID, and that the authority has the public part of DGI_CLIENT_KEY registered.';
}

function answerFinding({ url, trouble, token, capabilities }: AuthorityDiagnosis): Finding {
  const subject = 'authority';
  if (trouble === null) {
    const { decision, lookUp, clearedDocument, limits } = capabilities;
    const cleared = clearedDocument ? ', cleared documents' : '';
    const found = `${url}: decisions ${decision}, look-up by ${lookUp.join(' and ') || 'nothing'}${cleared}, ${limits.submissionsPerMinute} submissions a minute`;
    if (lookUp.length > 0) return { subject, state: 'works', found };
    const advice =
      'Without a look-up an unknown outcome can only be resolved by the nightly reconciliation: ask the authority.';
    return { subject, state: 'warns', found, advice };
  }
  if (token !== null && token.endsInMs === null) {
    return { subject, state: 'warns', found: `${url} was not asked, for want of a token`, advice: 'See the token.' };
  }
  const advice =
    'Check DGI_URL, DGI_CA and DGI_CLIENT_P12, and the network to the authority. Live invoices wait until it answers.';
  return { subject, state: 'warns', found: `${url}: ${oneLine(trouble)}`, advice };
}

function clockFinding({ clockOffsetMs }: AuthorityDiagnosis): Finding[] {
  const subject = 'DGI clock';
  if (clockOffsetMs === null) return [];
  const seconds = Math.round(Math.abs(clockOffsetMs) / 1000);
  if (Math.abs(clockOffsetMs) <= CLOCK_WARNING_MS)
    return [{ subject, state: 'works', found: 'agrees with this machine' }];
  return [
    {
      subject,
      state: 'warns',
      found: `the authority's clock is ${seconds} s ${clockOffsetMs > 0 ? 'ahead of' : 'behind'} this machine's`,
      advice:
        'Set the clock of this machine (timedatectl set-ntp true). Tokens work all the same; signing times would be wrong.',
    },
  ];
}
