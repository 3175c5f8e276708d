import { formatDay } from '../../../src/dashboard/text/dates.ts';
import { INVOICE_TEXTS } from '../../../src/dashboard/text/invoice-texts.ts';
import { chooseLanguage, DIRECTIONS } from '../../../src/dashboard/text/languages.ts';
import { formatAmount } from '../../../src/dashboard/text/local-number.ts';
import { CREDITED_LABELS } from '../../../src/text/credited-labels.ts';
import { CancelledError } from '../../typescript/src/errors.ts';
import { isFinal } from '../../typescript/src/follow.ts';
import { follow, type LiveInvoice } from './follow.ts';
import { STYLE } from './style.ts';

/** What the element shows: nothing yet, an invoice, or that the secret opens none. */
type Shown = LiveInvoice | 'loading' | 'refused';

/** The parts, in their order. */
const PARTS = [
  'test',
  'seller',
  'title',
  'amount',
  'label',
  'credited',
  'status',
  'reason',
  'documents',
  'connection',
] as const;

/**
 * `<fatoura-invoice client-secret="…">`: an invoice for its customer, with its status as it changes. The attribute
 * `service` is the origin of the service, where it is not the one that served this file; `lang` is the language, where
 * it is not that of the element's surroundings. Each invoice that is shown is the `detail` of an event `invoicechange`.
 */
// Where pages are rendered on a server there are no elements.
export class FatouraInvoice extends (globalThis.HTMLElement ?? Object) {
  static readonly observedAttributes = ['client-secret', 'service', 'lang'];

  #shown: Shown = 'loading';
  #isConnected = true;
  #end: AbortController | null = null;
  #parts: Parts | null = null;

  /** The invoice as it is shown; null before it is read. */
  get invoice(): LiveInvoice | null {
    return typeof this.#shown === 'string' ? null : this.#shown;
  }

  connectedCallback(): void {
    this.#parts ??= skeleton(this.attachShadow({ mode: 'open' }));
    document.addEventListener('visibilitychange', this.#turn);
    this.#follow();
  }

  disconnectedCallback(): void {
    document.removeEventListener('visibilitychange', this.#turn);
    this.#end?.abort();
  }

  attributeChangedCallback(name: string, before: string | null, now: string | null): void {
    if (!this.isConnected || !this.#parts || before === now) return;
    if (name !== 'lang') {
      this.#shown = 'loading';
      this.#follow();
    } else this.#show();
  }

  /** A hidden page has no stream: background tabs take connections from visible ones. */
  readonly #turn = (): void => {
    if (document.hidden) this.#end?.abort();
    else this.#follow();
  };

  #follow(): void {
    this.#end?.abort();
    this.#show();
    if (document.hidden || (this.invoice && isFinal(this.invoice))) return;
    this.#end = new AbortController();
    void this.#read(this.#end.signal);
  }

  async #read(signal: AbortSignal): Promise<void> {
    const service = this.getAttribute('service') ?? undefined;
    const onConnection = (isConnected: boolean) => {
      this.#isConnected = isConnected;
      this.#show();
    };
    try {
      for await (const invoice of follow(this.getAttribute('client-secret') ?? '', { service, signal, onConnection })) {
        if (signal.aborted) return;
        this.#shown = invoice;
        this.#show();
        this.dispatchEvent(new CustomEvent('invoicechange', { detail: invoice, bubbles: true, composed: true }));
      }
    } catch (error) {
      if (signal.aborted || error instanceof CancelledError) return;
      this.#shown = 'refused';
      this.#show();
    }
  }

  #show(): void {
    if (!this.#parts) return;
    const stated = this.closest('[lang]')?.getAttribute('lang');
    const language = chooseLanguage('', stated ? [stated] : navigator.languages);
    const texts = INVOICE_TEXTS[language];
    const { root, test, seller, title, amount, label, credited, status, reason, documents, connection } = this.#parts;
    const invoice = this.invoice;
    const inTest = invoice?.environment === 'test';
    // Of several regions of a page, each has a name of its own.
    const ariaLabel = [texts.invoice, invoice?.number].filter(Boolean).join(' ');
    Object.assign(root, { lang: language, dir: DIRECTIONS[language], ariaLabel });
    put(test, inTest && [made('strong', texts.test), ` ${texts.testUnder}`]);
    put(seller, invoice?.seller_name && [made('bdi', invoice.seller_name)]);
    put(title, invoice && [`${texts.invoice} `, made('bdi', invoice.number ?? texts.numberToCome)]);
    const money = (centimes: number) => made('bdi', `${formatAmount(centimes, language)}\u00a0${invoice?.currency}`);
    put(amount, invoice && [money(invoice.net_to_pay)]);
    put(label, invoice && [texts.payable]);
    const credit = invoice?.credited;
    const inWhole = credit?.amount === invoice?.amount;
    const creditedAs = CREDITED_LABELS[language][inWhole ? 'inWhole' : 'inPart'];
    put(
      credited,
      credit && [made('strong', creditedAs), ' ', money(credit.amount), ` (${formatDay(credit.last_date, language)})`],
    );
    const { headline, meaning } = invoice
      ? (inTest && texts.testStatuses[invoice.status]) || texts.statuses[invoice.status]
      : this.#shown === 'refused'
        ? { headline: texts.refused, meaning: texts.refusedUnder }
        : { headline: texts.loading, meaning: '' };
    status.part.value = `status ${invoice?.status ?? this.#shown}`;
    const [first, second] = status.children as unknown as readonly HTMLElement[];
    // Only what changes is written: readers of the screen read it aloud.
    if (first && first.textContent !== headline) put(first, [headline]);
    if (second && second.textContent !== meaning) put(second, meaning !== '' && [meaning]);
    const reasons = invoice?.problems.length ? invoice.problems.map(({ message }) => message) : [];
    if (invoice?.rejection_reason && reasons.length === 0) reasons.push(invoice.rejection_reason);
    put(reason, reasons.length > 0 && reasons.map((each) => made('p', each, { lang: 'fr', dir: 'ltr' })));
    documents.ariaLabel = texts.documents;
    const links = Object.entries(invoice?.documents ?? {}).map(([kind, { url: href }]) =>
      made('a', texts[kind as 'pdf' | 'xml'], { href, part: kind, target: '_blank', rel: 'noreferrer' }),
    );
    put(documents, links.length > 0 && links);
    connection.textContent = this.#isConnected || (invoice && isFinal(invoice)) ? '' : texts.lost;
  }
}

type Parts = Readonly<Record<(typeof PARTS)[number] | 'root', HTMLElement>>;

/** Makes the parts, which are filled later. */
function skeleton(shadow: ShadowRoot): Parts {
  // A style element would need `unsafe-inline` in the page's policy.
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  shadow.adoptedStyleSheets = [sheet];
  const tags: Readonly<Record<string, string>> = { status: 'div', reason: 'div', documents: 'nav' };
  const root = made('section', '', { part: 'invoice' });
  const named = PARTS.map((part) => [part, made(tags[part] ?? 'p', '', { part })] as const);
  root.append(...named.map(([, part]) => part));
  const parts = { ...Object.fromEntries(named), root } as Parts;
  parts.status.append(made('p', '', { part: 'headline' }), made('p', '', { part: 'meaning' }));
  // Regions are live before they have a text.
  parts.status.role = parts.connection.role = 'status';
  shadow.append(root);
  return parts;
}

/** Replaces what a part has; a part without anything is hidden. */
function put(part: HTMLElement, content: readonly (Node | string)[] | null | undefined | false | ''): void {
  part.replaceChildren(...(content || []));
  part.hidden = !content;
}

function made(tag: string, text: string, attributes: Readonly<Record<string, string>> = {}): HTMLElement {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  return element;
}
