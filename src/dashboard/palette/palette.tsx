import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { kindOfId } from '../../domain/invoice/kinds.ts';
import { LONGEST_SEARCH } from '../../domain/invoice/search/bounds.ts';
import { useLanguage } from '../interface/language.tsx';
import type { Section } from '../interface/sections.tsx';
import { DOCUMENT_TEXTS } from '../text/credit-notes.ts';
import { formatAmount } from '../text/local-number.ts';
import { signedAmount } from '../text/money.ts';
import { PALETTE_TEXTS } from '../text/palette.ts';
import { useEntries } from './use-entries.ts';
import type { FoundDocument } from './use-found.ts';

export interface PaletteProps {
  readonly pages: readonly Section[];
  readonly onClose: () => void;
}

/**
 * A dialog with one field: it finds documents by any part of them, pages and actions by the beginnings of their words.
 * The focus stays in the field; the arrows move through the entries, Enter opens the chosen one.
 */
export function Palette({ pages, onClose }: PaletteProps) {
  const { language } = useLanguage();
  const { route } = useLocation();
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState(0);
  const id = useId();
  const { title, hint, searching, none, failed, found: countOf, close } = PALETTE_TEXTS[language];
  const { groups, state } = useEntries(typed.trim(), pages);
  const entries = groups.flatMap((group) => group.entries);
  const at = Math.min(chosen, entries.length - 1);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [at]);

  function go(href: string): void {
    dialog.current?.close();
    route(href);
  }
  function onKeyDown(event: KeyboardEvent): void {
    const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    const entry = entries[at];
    if (event.isComposing) return;
    if (step !== undefined && entries.length > 0) {
      event.preventDefault();
      setChosen((at + step + entries.length) % entries.length);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      if (entry) go(entry.href);
    }
  }
  const status =
    state === 'found' ? (entries.length === 0 ? none : countOf(entries.length)) : { searching, failed }[state];
  let nth = -1;
  return (
    <dialog ref={dialog} class="palette" aria-label={title} onClose={onClose}>
      <div class="palette-head">
        <input
          type="text"
          role="combobox"
          aria-label={title}
          aria-expanded="true"
          aria-controls={`${id}list`}
          aria-autocomplete="list"
          aria-describedby={`${id}hint`}
          aria-activedescendant={at < 0 ? undefined : `${id}${at}`}
          placeholder={title}
          autocomplete="off"
          maxLength={LONGEST_SEARCH}
          value={typed}
          onInput={({ currentTarget }) => {
            setTyped(currentTarget.value);
            setChosen(0);
          }}
          onKeyDown={onKeyDown}
        />
        <button type="button" class="quiet" onClick={() => dialog.current?.close()}>
          {close}
        </button>
      </div>
      <div class="palette-list" role="listbox" id={`${id}list`} aria-label={title} ref={list}>
        {groups.map((group) => (
          // biome-ignore lint/a11y/useSemanticElements: no field set is allowed in a list box
          <div role="group" aria-label={group.name} key={group.name}>
            <p aria-hidden="true">{group.name}</p>
            {group.entries.map(({ href, name, document }) => {
              const own = ++nth;
              return (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys, and names this entry
                <div
                  role="option"
                  tabIndex={-1}
                  id={`${id}${own}`}
                  key={href}
                  aria-selected={own === at}
                  onClick={() => go(href)}
                >
                  {document ? <DocumentLine document={document} /> : name}
                </div>
              );
            })}
          </div>
        ))}
      </div>
      <p class="palette-foot">
        <span role="status">{status}</span> <span id={`${id}hint`}>{hint}</span>
      </p>
    </dialog>
  );
}

function DocumentLine({ document }: { document: FoundDocument }) {
  const { language } = useLanguage();
  const { id, number, customer, status, amount, currency } = document;
  const kind = kindOfId(id) ?? 'invoice';
  const texts = DOCUMENT_TEXTS[kind][language];
  return (
    <>
      <bdi>{number ?? texts.numberToCome}</bdi> <bdi class="palette-name">{customer.name}</bdi>{' '}
      <span>{texts.stepNames[status]}</span>{' '}
      <bdi class="palette-sum">
        {formatAmount(signedAmount(amount, kind), language)} {currency}
      </bdi>
    </>
  );
}
