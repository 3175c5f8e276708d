import { useState } from 'preact/hooks';
import { hasScope } from '../../domain/scopes.ts';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { SecretOnce } from '../interface/secret-once.tsx';
import { useTitle } from '../interface/use-title.ts';
import { useChange } from '../workspace/use-change.ts';
import { useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { CREATE_ENDPOINT, ENDPOINTS } from './documents.ts';
import { EndpointCard } from './endpoint-card.tsx';
import { EndpointForm } from './endpoint-form.tsx';

/** `…/endpoints`: the webhook endpoints of the environment. A signing secret is shown once. */
export function EndpointsPage() {
  const { texts } = useLanguage();
  const { tenant, environment } = useWorkspace();
  const { data, problem, reload } = useRead(ENDPOINTS, {});
  const [secret, setSecret] = useState<string | null>(null);
  const { title, lead, none, made } = texts.endpoints;
  const isAllowed = hasScope(tenant.role, 'operate', environment);
  useTitle(title);
  return (
    <section aria-busy={!data && !problem}>
      <h1 class="title">{title}</h1>
      <p class="under">{lead}</p>
      {secret !== null && <SecretOnce label={made} secret={secret} onDone={() => setSecret(null)} />}
      <Refusal why={problem && 'unreachable'} onRetry={reload} />
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

function NewEndpoint({ onMade }: { onMade: (secret: string) => void }) {
  const { texts } = useLanguage();
  const { add, create } = texts.endpoints;
  const creation = useChange(CREATE_ENDPOINT);
  const [made, setMade] = useState(0);
  return (
    // The key makes a new, empty form after each endpoint.
    <EndpointForm
      key={made}
      title={add}
      submit={create}
      given={null}
      change={creation}
      onSend={async ({ description, ...input }) => {
        const payload = await creation.run({ input: { ...input, ...(description !== null && { description }) } });
        if (!payload) return;
        setMade(made + 1);
        onMade(payload.secret);
      }}
    />
  );
}
