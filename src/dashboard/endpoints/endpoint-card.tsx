import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { ConfirmedButton } from '../interface/confirmed-button.tsx';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { formatMoment } from '../text/dates.ts';
import { useChange, useSharedRefusal } from '../workspace/use-change.ts';
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

/** Shows one endpoint and the actions on it. */
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
  const shared = useSharedRefusal();
  const [refusal, setRefusal] = shared;
  const changes = {
    update: useChange(UPDATE_ENDPOINT, shared),
    rotate: useChange(ROTATE_SECRET, shared),
    remove: useChange(DELETE_ENDPOINT, shared),
    test: useChange(SEND_TEST_EVENT, shared),
  };
  const [isTested, setTested] = useState(false);
  const [isEdited, setEdited] = useState(false);
  const [first] = events;
  /** Opens or closes the form. The form and the card share one refusal, so it is cleared: each shows only its own. */
  function showForm(isShown: boolean): void {
    setRefusal(null);
    setEdited(isShown);
  }
  if (isEdited) {
    return (
      <EndpointForm
        title={edit}
        submit={save}
        given={endpoint}
        change={changes.update}
        onCancel={() => showForm(false)}
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
          <Fragment key={type}>
            <code dir="ltr">{eventName(type)}</code>{' '}
          </Fragment>
        ))}
      </p>
      <EndpointHealth endpoint={endpoint} />
      <Refusal why={refusal} />
      {isTested && refusal === null && <p role="status">{tested}</p>}
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
          <button type="button" class="quiet" onClick={() => showForm(true)}>
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
