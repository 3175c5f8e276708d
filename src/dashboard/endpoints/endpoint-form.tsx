import type { TargetedSubmitEvent } from 'preact';
import { useId } from 'preact/hooks';
import { ENDPOINT_LIMITS } from '../../domain/limits.ts';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import type { Reason } from '../text/errors.ts';
import type { Endpoint, EventType } from './documents.ts';
import { EVENT_NAMES, eventName, isPreselected } from './event-names.ts';

interface EndpointValues {
  readonly url: string;
  readonly events: EventType[];
  /** Null for none. */
  readonly description: string | null;
}

interface EndpointFormProps {
  readonly title: string;
  readonly submit: string;
  /** The endpoint whose values the fields start with; null for a new endpoint. */
  readonly given: Endpoint | null;
  readonly change: { readonly busy: boolean; readonly refusal: Reason | null };
  readonly onSend: (values: EndpointValues) => Promise<void>;
  readonly onCancel?: () => void;
}

/** The fields of an endpoint, for a new one or for a change. */
export function EndpointForm({ title, submit, given, change, onSend, onCancel }: EndpointFormProps) {
  const { texts } = useLanguage();
  const { url, description, events } = texts.endpoints;
  const id = useId();

  function send(event: TargetedSubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    const values = new FormData(event.currentTarget);
    void onSend({
      url: String(values.get('url')),
      events: values.getAll('events') as EventType[],
      description: String(values.get('description')).trim() || null,
    });
  }

  return (
    <form class="card account-form new-endpoint" onSubmit={send} aria-busy={change.busy} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <Refusal why={change.refusal} />
      <label class="field">
        {url}
        <input
          type="url"
          name="url"
          required
          maxLength={ENDPOINT_LIMITS.url}
          dir="ltr"
          placeholder="https://"
          defaultValue={given?.url}
        />
      </label>
      <label class="field">
        {description}
        <input
          type="text"
          name="description"
          maxLength={ENDPOINT_LIMITS.description}
          dir="auto"
          defaultValue={given?.description ?? undefined}
        />
      </label>
      <fieldset class="choices">
        <legend>{events}</legend>
        {EVENT_NAMES.map((type) => (
          <label key={type}>
            <input
              type="checkbox"
              name="events"
              value={type}
              defaultChecked={given === null ? isPreselected(type) : given.events.includes(type)}
            />
            <code dir="ltr">{eventName(type)}</code>
          </label>
        ))}
      </fieldset>
      <p class="actions">
        <button type="submit" class="primary" aria-disabled={change.busy}>
          {submit}
        </button>
        {onCancel && (
          <button type="button" class="secondary" onClick={onCancel}>
            {texts.secret.cancel}
          </button>
        )}
      </p>
    </form>
  );
}
