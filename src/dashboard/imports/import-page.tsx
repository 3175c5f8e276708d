import { useLocation, useRoute } from 'preact-iso';
import { hasScope } from '../../domain/scopes.ts';
import { ConfirmedButton } from '../interface/confirmed-button.tsx';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { useTitle } from '../interface/use-title.ts';
import { IMPORT_TEXTS } from '../text/imports.ts';
import { formatNumber } from '../text/money.ts';
import { Unread } from '../workspace/unread.tsx';
import { useChange } from '../workspace/use-change.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { DISCARD_IMPORT, type Imported, START_IMPORT } from './documents.ts';
import { FileReading } from './file-reading.tsx';
import { ImportedInvoices } from './imported-invoices.tsx';
import { SavedFile } from './saved-file.tsx';
import { useImport } from './use-import.ts';

/** `…/imports/<id>`: how a file was read, the verdict of each of its invoices, and the button that issues them. */
export function ImportPage() {
  const { id = '' } = useRoute().params;
  const { language } = useLanguage();
  const { data, problem, reload } = useImport(id);
  const { title, failed } = IMPORT_TEXTS[language];
  useTitle(data?.fileName ?? title);
  if (!data) return <Unread title={title} problem={problem} failed={failed} onRetry={reload} />;
  return <OpenImport imported={data} reload={reload} />;
}

function OpenImport({ imported, reload }: { readonly imported: Imported; readonly reload: () => void }) {
  const { language } = useLanguage();
  const { address, tenant, environment } = useWorkspace();
  const { route } = useLocation();
  const { id, fileName, status, counts, reading } = imported;
  const words = IMPORT_TEXTS[language];
  const discarding = useChange(DISCARD_IMPORT);
  const mayChange = hasScope(tenant.role, 'draft', environment);
  async function discard(): Promise<void> {
    if (await discarding.run({ id })) route(`${address}/imports`);
  }
  return (
    <section class="imports" data-import={status}>
      <p>
        <a href={`${address}/imports`}>{words.backToList}</a>
      </p>
      <h1 class="title">
        <bdi>{fileName}</bdi>
      </h1>
      <p class="under">{words.statuses[status]}</p>
      {reading && <FileReading imported={imported} reading={reading} onChanged={reload} />}
      <Progress imported={imported} onStarted={reload} />
      {counts.invoices > 0 && status !== 'reading' && (
        <section class="card">
          <p class="under">{words.downloadLead}</p>
          <p class="actions">
            <SavedFile path={`/imports/${id}/result`} name={fileName} language={language}>
              {words.download}
            </SavedFile>
          </p>
        </section>
      )}
      {counts.invoices > 0 && status !== 'reading' && <ImportedInvoices imported={imported} />}
      {mayChange && status !== 'issuing' && (
        <div class="actions">
          <ConfirmedButton question={words.discardQuestion} onConfirm={() => void discard()}>
            {words.discard}
          </ConfirmedButton>
        </div>
      )}
      <Refusal why={discarding.refusal} />
    </section>
  );
}

/** Shows the progress of the import, and the next step of the person. */
function Progress({ imported, onStarted }: { readonly imported: Imported; readonly onStarted: () => void }) {
  const { language } = useLanguage();
  const { tenant, environment } = useWorkspace();
  const starting = useChange(START_IMPORT);
  const words = IMPORT_TEXTS[language];
  const { id, round, status, counts, failure, reading } = imported;
  const { invoices, ready, issued, refused, accepted, rejected } = counts;
  const number = (count: number) => formatNumber(count, language);
  const handled = issued + refused;
  async function start(): Promise<void> {
    if (await starting.run({ id, round })) onStarted();
  }
  return (
    <section class="card import-progress" aria-busy={status === 'reading' || status === 'issuing'}>
      {status === 'reading' && (
        <label>
          {words.reading} <progress /> <span>{words.read(invoices)}</span>
        </label>
      )}
      {status === 'unreadable' && <h2>{words.unreadable}</h2>}
      {failure && (
        <p class="refusal" role="alert" dir="auto">
          {failure.message}
        </p>
      )}
      {status === 'checked' && reading?.missing.length === 0 && (
        <>
          {ready === 0 && <p>{words.nothing}</p>}
          {ready > 0 && hasScope(tenant.role, 'issue', environment) && (
            <>
              <p>{words.issueNote[environment]}</p>
              <p class="actions">
                <button type="button" class="primary" aria-disabled={starting.busy} onClick={() => void start()}>
                  {words.issue(ready)}
                </button>
              </p>
            </>
          )}
          <Refusal why={starting.refusal} />
        </>
      )}
      {status === 'issuing' && (
        <label>
          {words.issuing(number(handled), number(handled + ready))} <progress value={handled} max={handled + ready} />
        </label>
      )}
      {(status === 'issuing' || status === 'done') && (
        <p role="status" data-outcome>
          {words.outcome(number(accepted), number(rejected), number(issued - accepted - rejected))}
        </p>
      )}
      <Counts counts={counts} />
    </section>
  );
}

const SHOWN = ['ready', 'faulty', 'known', 'issued', 'refused'] as const;

/** Shows the number of invoices with each verdict, if there are any. */
function Counts({ counts }: Pick<Imported, 'counts'>) {
  const { language } = useLanguage();
  const words = IMPORT_TEXTS[language];
  const shown = SHOWN.filter((verdict) => counts[verdict] > 0);
  if (shown.length === 0) return null;
  return (
    <ul class="verdict-counts">
      {shown.map((verdict) => (
        <li key={verdict} data-verdict={verdict}>
          <strong>{words.counts(counts[verdict])}</strong> {words.meanings[verdict]}
        </li>
      ))}
    </ul>
  );
}
