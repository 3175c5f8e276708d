import { useState } from 'preact/hooks';
import { ConfirmedButton } from '../interface/confirmed-button.tsx';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { formatMoment } from '../text/dates.ts';
import { useChange } from '../workspace/use-change.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { DELETE_ENDPOINT, type Endpoint, ROTATE_SECRET, SEND_TEST_EVENT, UPDATE_ENDPOINT } from './documents.ts';
import { EndpointForm } from './endpoint-form.tsx';
import { EndpointHealth } from './endpoint-health.tsx';
import { eventName } from './event-names.ts';

interface EndpointCardProps {
  readonly endpoint: Endpoint;
  readonly isAllowed: boolean;
  readonly onChange: () => void;
  readonly onSecret: (secret: string) => void;
}

/** One endpoint with what can be done to it. */
export function EndpointCard({ endpoint, isAllowed, onChange, onSecret }: EndpointCardProps) {
  const { language, texts } = useLanguage();
  const { environment } = useWorkspace();
  const { id, url, description, events, active, failing, failingSince } = endpoint;
  const {
    on,
    off,
    failingNow,
    since,
    disable,
    enable,
    rotate,
    rotateQuestion,
    remove,
    removeQuestion,
    test,
    tested,
    edit,
    save,
  } = texts.endpoints;
  const changes = {
    update: useChange(UPDATE_ENDPOINT),
    rotate: useChange(ROTATE_SECRET),
    remove: useChange(DELETE_ENDPOINT),
    test: useChange(SEND_TEST_EVENT),
  };
  const [isTested, setTested] = useState(false);
  const [isEdited, setEdited] = useState(false);
  const refusal = Object.values(changes).find((change) => change.refusal !== null)?.refusal ?? null;
  const [first] = events;
  if (isEdited) {
    return (
      <EndpointForm
        title={edit}
        submit={save}
        given={endpoint}
        change={changes.update}
        onCancel={() => setEdited(false)}
        onSend={async (input) => {
          if (!(await changes.update.run({ id, input }))) return;
          setEdited(false);
          onChange();
        }}
      />
    );
  }
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
      <EndpointHealth endpoint={endpoint} />
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
          <button type="button" class="quiet" onClick={() => setEdited(true)}>
            {edit}
          </button>
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
