import { useLayoutEffect, useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import { hasScope } from '../../domain/scopes.ts';
import type { TypedInvoice } from '../creation/drawn-up.ts';
import { faultsOf, ProblemList, placedProblems } from '../creation/faults.tsx';
import { FormTotals } from '../creation/form-totals.tsx';
import { InvoiceFields } from '../creation/invoice-fields.tsx';
import { EMPTY_LINE } from '../creation/typed-line.ts';
import { useDeposits } from '../creation/use-deposits.ts';
import { reasonOf } from '../graphql/client.ts';
import { ConfirmedButton } from '../interface/confirmed-button.tsx';
import { keyOfKept } from '../interface/kept.ts';
import { keepTyped, readTyped } from '../interface/kept-typed.ts';
import { useLanguage } from '../interface/language.tsx';
import { PdfPreview } from '../interface/pdf-preview.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { useAfterTyping } from '../interface/use-after-typing.ts';
import { useTitle } from '../interface/use-title.ts';
import { formatMoment } from '../text/dates.ts';
import { DRAFT_TEXTS } from '../text/drafts.ts';
import { Missing } from '../workspace/missing.tsx';
import { Unread } from '../workspace/unread.tsx';
import { useChange, useSharedRefusal } from '../workspace/use-change.ts';
import { useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { DELETE_DRAFT, DRAFT, DRAFT_PREVIEW, type Draft, ISSUE_DRAFT, UPDATE_DRAFT } from './documents.ts';
import { contentOf, type DraftContent, typedOf } from './draft-content.ts';
import { Warnings } from './warnings.tsx';

/** Pause after the last change before the draft is saved, milliseconds. */
const PAUSE_MS = 700;

/** `…/drafts/<id>`: an invoice that is being written. */
export function DraftPage() {
  const { id = '' } = useRoute().params;
  const { language } = useLanguage();
  const { tenant, environment } = useWorkspace();
  const { data, problem, reload } = useRead(DRAFT, { id });
  const [reads, setReads] = useState(0);
  const { pageTitle, failed } = DRAFT_TEXTS[language];
  useTitle(pageTitle);
  if (!hasScope(tenant.role, 'draft', environment) || problem === 'refused') return <Missing />;
  if (!data) return <Unread title={pageTitle} problem={problem} failed={failed} onRetry={reload} />;
  const readAgain = () => {
    reload();
    setReads(reads + 1);
  };
  // Another version that is read replaces the typed text only when the person asks for it.
  return <DraftForm draft={data.draft} onReadAgain={readAgain} key={`${id} ${reads} ${data.draft.version}`} />;
}

function DraftForm({ draft, onReadAgain }: { readonly draft: Draft; readonly onReadAgain: () => void }) {
  const { language } = useLanguage();
  const { address, personId, client, tenant, environment } = useWorkspace();
  const { route } = useLocation();
  const opened = draft.content as DraftContent;
  const keyOf = (at: number) => keyOfKept('typed', personId, `${draft.id} ${at}`);
  const [typed, setTyped] = useState(
    (): TypedInvoice => ({
      ...typedOf(opened, EMPTY_LINE),
      ...readTyped<TypedInvoice>(keyOf(draft.version)),
    }),
  );
  const deposits = useDeposits(typed);
  const [saved, setSaved] = useState(() => ({
    ...draft,
    text: JSON.stringify(contentOf(typedOf(opened, EMPTY_LINE), opened, deposits.left)),
  }));
  const shared = useSharedRefusal();
  const saving = useChange(UPDATE_DRAFT, shared);
  const issuing = useChange(ISSUE_DRAFT, shared);
  const removal = useChange(DELETE_DRAFT, shared);
  const texts = DRAFT_TEXTS[language];
  const { id } = draft;
  const { version, validation } = saved;
  const problems = placedProblems(validation.problems, typed.lines.length);
  const text = JSON.stringify(contentOf(typed, opened, deposits.left));
  const isSaved = text === saved.text;
  const [refusal] = shared;
  const isChanged =
    refusal !== null &&
    refusal !== 'unreachable' &&
    ['draft_changed', 'draft_issued', 'resource_not_found'].includes(refusal.code);

  // A page that is left before the draft is saved continues with the typed text when it is opened again.
  useLayoutEffect(() => keepTyped(keyOf(version), isSaved ? null : typed), [text, isSaved, version]);
  useAfterTyping(isSaved || isChanged || saving.busy ? null : `${version} ${text}`, PAUSE_MS, async () => {
    const made = await saving.run({ id, version, content: JSON.parse(text) });
    if (!made) return;
    keepTyped(keyOf(version), null);
    setSaved({ ...saved, ...made.draft, text });
  });

  async function issue(): Promise<void> {
    const made = await issuing.run({ id, version });
    if (made) route(`${address}/invoices/${made.invoice.id}`);
  }
  async function remove(): Promise<void> {
    if (await removal.run({ id, version })) route(`${address}/drafts`);
  }
  async function draw() {
    const { data, error } = await client.query(DRAFT_PREVIEW, { id }).toPromise();
    return { dataUrl: data?.draftPreview ?? null, refusal: error ? reasonOf(error) : null };
  }
  const mayIssue = hasScope(tenant.role, 'issue', environment);

  return (
    <section class="creation">
      <h1 class="title">{texts.pageTitle}</h1>
      <p class="under">{texts.lead}</p>
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          if (isSaved && validation.valid) void issue();
        }}
      >
        <InvoiceFields
          typed={typed}
          newLine={EMPTY_LINE}
          deposits={deposits}
          faults={faultsOf(problems, typed)}
          onTyped={setTyped}
        />
        {validation.totals && <FormTotals totals={validation.totals} typed={typed} />}
        <p class="under" role="status">
          {isSaved ? texts.saved(formatMoment(saved.updatedAt, language)) : texts.saving}
        </p>
        <ProblemList title={texts.missing} placed={problems} />
        <Warnings title={texts.warnings} warnings={validation.warnings} />
        <Refusal why={refusal} />
        {isChanged && (
          <p class="refusal">
            {texts.changed}{' '}
            <button type="button" class="secondary" onClick={onReadAgain}>
              {texts.reload}
            </button>
          </p>
        )}
        {mayIssue && (
          <button type="submit" class="primary" aria-disabled={!isSaved || !validation.valid || issuing.busy}>
            {texts.issue}
          </button>
        )}
      </form>
      <PdfPreview title={texts.preview} of={saved.text} draw={draw}>
        {texts.previewLead}
      </PdfPreview>
      <div class="actions">
        <ConfirmedButton question={texts.removeQuestion} onConfirm={() => void remove()}>
          {texts.remove}
        </ConfirmedButton>
      </div>
    </section>
  );
}
