import { useRef, useState } from 'preact/hooks';
import { SETTLED_STATES } from '../../domain/webhook/delivery.ts';
import { reasonOf } from '../graphql/client.ts';
import { ConfirmedButton } from '../interface/confirmed-button.tsx';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { startOfDay } from '../text/days.ts';
import { formatNumber } from '../text/money.ts';
import { useChange, useSharedRefusal } from '../workspace/use-change.ts';
import { useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { ENDPOINTS, RESEND_COUNT, RESEND_DELIVERIES, type ResendSelection } from './documents.ts';

/**
 * Resends the deliveries of a period to an endpoint, after showing their number. One call resends the 10,000 newest,
 * and the page says so.
 * @param onReplayed called when deliveries have been queued
 */
export function ReplayForm({ onReplayed }: { onReplayed: () => void }) {
  const { texts } = useLanguage();
  const { data } = useRead(ENDPOINTS, {});
  const endpoints = data?.webhookEndpoints.filter(({ active }) => active) ?? [];
  const [first] = endpoints;
  if (!first) return null;
  return (
    <details class="card replay">
      <summary>{texts.replay.title}</summary>
      <Selection endpoints={endpoints} first={first.id} onReplayed={onReplayed} />
    </details>
  );
}

interface SelectionProps {
  readonly endpoints: readonly { readonly id: string; readonly url: string }[];
  readonly first: string;
  readonly onReplayed: () => void;
}

function Selection({ endpoints, first, onReplayed }: SelectionProps) {
  const { texts, language } = useLanguage();
  const { client } = useWorkspace();
  const { endpoint, state, count, none, counted, more, question, replay, replayed } = texts.replay;
  const [chosen, setChosen] = useState<{
    endpointId: string;
    state: (typeof SETTLED_STATES)[number];
    from: string;
    until: string;
  }>({
    endpointId: first,
    state: 'failed',
    from: '',
    until: '',
  });
  const [found, setFound] = useState<{ count: number; more: boolean } | null>(null);
  const [told, setTold] = useState('');
  const shared = useSharedRefusal();
  const [refusal, setRefusal] = shared;
  const replaying = useChange(RESEND_DELIVERIES, shared);
  const selection = selectionOf(chosen);
  const latest = useRef(chosen);
  latest.current = chosen;
  const number = (n: number) => formatNumber(n, language);

  /** Changes the selection and drops the count, which was for the earlier one. */
  function choose(change: Partial<typeof chosen>): void {
    setChosen({ ...chosen, ...change });
    setFound(null);
    setTold('');
  }

  async function countThem(): Promise<void> {
    const { data, error } = await client.query(RESEND_COUNT, { selection }).toPromise();
    // The selection has changed meanwhile, so this count is out of date.
    if (latest.current !== chosen) return;
    setRefusal(error ? reasonOf(error) : null);
    setTold('');
    setFound(data?.webhookResendCount ?? null);
  }

  async function run(): Promise<void> {
    const done = await replaying.run({ selection });
    if (!done) return;
    setFound(null);
    setTold(replayed(number(done.outcome.count)) + (done.outcome.more ? ` ${more}` : ''));
    onReplayed();
  }

  const day = (name: 'from' | 'until', label: string) => (
    <div class="field">
      <label for={`replay-${name}`}>{label}</label>
      <input
        id={`replay-${name}`}
        name={`replay-${name}`}
        type="date"
        value={chosen[name]}
        onChange={({ currentTarget }) => choose({ [name]: currentTarget.value })}
      />
    </div>
  );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void countThem();
      }}
    >
      <div class="fields">
        <div class="field wide">
          <label for="replay-endpoint">{endpoint}</label>
          <select
            id="replay-endpoint"
            dir="ltr"
            value={chosen.endpointId}
            onChange={({ currentTarget }) => choose({ endpointId: currentTarget.value })}
          >
            {endpoints.map(({ id, url }) => (
              <option value={id} key={id}>
                {url}
              </option>
            ))}
          </select>
        </div>
        <div class="field">
          <label for="replay-state">{state}</label>
          <select
            id="replay-state"
            value={chosen.state}
            onChange={({ currentTarget }) =>
              choose({ state: SETTLED_STATES.find((each) => each === currentTarget.value) ?? 'failed' })
            }
          >
            {SETTLED_STATES.map((each) => (
              <option value={each} key={each}>
                {texts.invoices.deliveryStates[each]}
              </option>
            ))}
          </select>
        </div>
        {day('from', texts.invoices.from)}
        {day('until', texts.invoices.until)}
      </div>
      <Refusal why={refusal} />
      <p class="actions">
        <button type="submit" class="secondary">
          {count}
        </button>
        <span role="status">
          {found && (found.count === 0 ? none : counted(number(found.count)))}
          {found?.more && ` ${more}`}
          {told}
        </span>
        {found && found.count > 0 && (
          <ConfirmedButton question={question(number(found.count))} onConfirm={() => void run()}>
            {replay}
          </ConfirmedButton>
        )}
      </p>
    </form>
  );
}

function selectionOf({
  endpointId,
  state,
  from,
  until,
}: {
  endpointId: string;
  state: (typeof SETTLED_STATES)[number];
  from: string;
  until: string;
}) {
  const [start, end] = [from ? startOfDay(from) : null, until ? startOfDay(until, 1) : null];
  return {
    endpointId,
    state,
    // The service excludes the bounds.
    ...(start && { createdAfter: new Date(start.getTime() - 1).toISOString() }),
    ...(end && { createdBefore: end.toISOString() }),
  } satisfies ResendSelection;
}
