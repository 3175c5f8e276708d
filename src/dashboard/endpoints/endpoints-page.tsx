import type { TargetedSubmitEvent } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { ConfirmedButton } from '../interface/confirmed-button.tsx';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { SecretOnce } from '../interface/secret-once.tsx';
import { useTitle } from '../interface/use-title.ts';
import { formatMoment } from '../text/dates.ts';
import { mayChange } from '../workspace/permissions.ts';
import { useChange } from '../workspace/use-change.ts';
import { useRead, useWorkspace } from '../workspace/workspace-context.ts';
import {
  CREATE_ENDPOINT,
  DELETE_ENDPOINT,
  ENDPOINTS,
  type Endpoint,
  type EventType,
  ROTATE_SECRET,
  SEND_TEST_EVENT,
  UPDATE_ENDPOINT,
} from './documents.ts';
import { EVENT_TYPES, eventName } from './event-names.ts';

/** `…/endpoints`: the webhook endpoints of the environment. A signing secret is shown once. */
export function EndpointsPage() {
  const { texts } = useLanguage();
  const { tenant, environment } = useWorkspace();
  const { data, problem, reload } = useRead(ENDPOINTS, {});
  const [secret, setSecret] = useState<string | null>(null);
  const { title, lead, none, made } = texts.endpoints;
  const isAllowed = mayChange('endpoints', tenant.role, environment);
  useTitle(title);
  return (
    <section aria-busy={!data && !problem}>
      <h1 class="title">{title}</h1>
      <p class="under">{lead}</p>
      {secret !== null && <SecretOnce label={made} secret={secret} onDone={() => setSecret(null)} />}
      <Refusal text={problem && 'unreachable'} />
      {data?.webhookEndpoints.length === 0 && <p class="empty">{none}</p>}
      {data?.webhookEndpoints.map((endpoint) => (
        <EndpointCard
          endpoint={endpoint}
          key={endpoint.id}
          isAllowed={isAllowed}
          onChange={reload}
          onSecret={setSecret}
        />
      ))}
      {isAllowed && (
        <NewEndpoint
          onMade={(made) => {
            setSecret(made);
            reload();
          }}
        />
      )}
    </section>
  );
}

interface EndpointCardProps {
  readonly endpoint: Endpoint;
  readonly isAllowed: boolean;
  readonly onChange: () => void;
  readonly onSecret: (secret: string) => void;
}

function EndpointCard({ endpoint, isAllowed, onChange, onSecret }: EndpointCardProps) {
  const { language, texts } = useLanguage();
  const { environment } = useWorkspace();
  const { id, url, description, events, active, failing, failingSince } = endpoint;
  const { on, off, failingNow, since, disable, enable, rotate, rotateQuestion, remove, removeQuestion, test, tested } =
    texts.endpoints;
  const changes = {
    update: useChange(UPDATE_ENDPOINT),
    rotate: useChange(ROTATE_SECRET),
    remove: useChange(DELETE_ENDPOINT),
    test: useChange(SEND_TEST_EVENT),
  };
  const [isTested, setTested] = useState(false);
  const refusal = Object.values(changes).find((change) => change.refusal !== null)?.refusal ?? null;
  const [first] = events;
  return (
    <article class="card endpoint">
      <h2>
        <bdi dir="ltr">{url}</bdi>
      </h2>
      {description && (
        <p class="under">
          <bdi>{description}</bdi>
        </p>
      )}
      <p>
        <span class="badge" data-state={failing ? 'failed' : active ? 'delivered' : 'cancelled'}>
          {failing ? failingNow : active ? on : off}
        </span>{' '}
        {failingSince && (
          <span class="under">
            {since} <time dateTime={failingSince}>{formatMoment(failingSince, language)}</time>
          </span>
        )}
      </p>
      <p>
        {events.map((type) => (
          <code dir="ltr" key={type}>
            {eventName(type)}{' '}
          </code>
        ))}
      </p>
      <Refusal text={refusal} />
      {isTested && <p role="status">{tested}</p>}
      {isAllowed && (
        <p class="row-actions">
          {environment === 'test' && first && (
            <button
              type="button"
              class="quiet"
              onClick={() => void changes.test.run({ id, type: first }).then((sent) => setTested(sent !== null))}
            >
              {test}
            </button>
          )}
          <button
            type="button"
            class="quiet"
            onClick={() => void changes.update.run({ id, input: { active: !active } }).then(onChange)}
          >
            {active ? disable : enable}
          </button>
          <ConfirmedButton
            question={rotateQuestion}
            onConfirm={() => void changes.rotate.run({ id }).then((made) => made && onSecret(made.secret))}
          >
            {rotate}
          </ConfirmedButton>
          <ConfirmedButton question={removeQuestion} onConfirm={() => void changes.remove.run({ id }).then(onChange)}>
            {remove}
          </ConfirmedButton>
        </p>
      )}
    </article>
  );
}

function NewEndpoint({ onMade }: { onMade: (secret: string) => void }) {
  const { texts } = useLanguage();
  const { add, url, description, events, create } = texts.endpoints;
  const creation = useChange(CREATE_ENDPOINT);
  const form = useRef<HTMLFormElement>(null);

  async function send(event: TargetedSubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const values = new FormData(event.currentTarget);
    const text = String(values.get('description')).trim();
    const input = {
      url: String(values.get('url')),
      events: values.getAll('events') as EventType[],
      ...(text !== '' && { description: text }),
    };
    const made = await creation.run({ input });
    if (!made) return;
    form.current?.reset();
    onMade(made.secret);
  }

  return (
    <form ref={form} class="card account-form new-endpoint" onSubmit={send} aria-busy={creation.busy}>
      <h2>{add}</h2>
      <Refusal text={creation.refusal} />
      <label class="field">
        {url}
        <input type="url" name="url" required maxLength={2048} dir="ltr" placeholder="https://" />
      </label>
      <label class="field">
        {description}
        <input type="text" name="description" maxLength={500} dir="auto" />
      </label>
      <fieldset class="choices">
        <legend>{events}</legend>
        {EVENT_TYPES.map((type) => (
          <label key={type}>
            <input type="checkbox" name="events" value={type} defaultChecked />
            <code dir="ltr">{eventName(type)}</code>
          </label>
        ))}
      </fieldset>
      <button type="submit" class="primary" aria-disabled={creation.busy}>
        {create}
      </button>
    </form>
  );
}
